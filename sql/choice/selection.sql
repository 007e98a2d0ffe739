-- Selection: which specification a campaign ends with.
-- Grain: one row for each campaign of which every candidate is decided; none while anything is open.
-- Outcome: `selected`, a passing candidate gains more than the policy's min_gain; `kept_baseline`, every candidate
-- failed or none of the passing ones gains that much; `undecided`, none passed and at least one is indeterminate. A
-- candidate with the baseline's own specification gains nothing, whatever noise says; ties go to the smaller candidate
-- id.
-- columns:
--   campaign_id: Campaign.
--   selected_id: The selected candidate; the baseline where it is kept or nothing is decided.
--   outcome: selected, kept_baseline or undecided.
--   score: Mean oriented delta of the preference metric of the selected candidate; NULL where none is selected.
with standing as (
    select
        campaign_id,
        count(*) as candidates,
        count(*) filter (where decision = 'pass') as passing,
        count(*) filter (where decision = 'indeterminate') as indeterminate,
    from decisions
    group by campaign_id
    having bool_and(is_final)
),

decided as (
    select
        declarations.campaign_id,
        declarations.baseline_id,
        coalesce(standing.passing, 0) as passing,
        coalesce(standing.indeterminate, 0) as indeterminate,
    from declarations
    left join standing using (campaign_id)
    where standing.candidates > 0 or declarations.candidates = 0
),

gains as (
    select
        decisions.campaign_id,
        decisions.candidate_id,
        decisions.score,
    from decisions
    inner join declarations using (campaign_id)
    inner join declared_candidates using (campaign_id, candidate_id)
    where decisions.decision = 'pass'
        and decisions.score > declarations.min_gain
        and declared_candidates.spec_digest is distinct from declarations.baseline_digest
    qualify row_number() over (
        partition by decisions.campaign_id
        order by decisions.score desc, decisions.candidate_id
    ) = 1
),

chosen as (
    select
        decided.campaign_id,
        coalesce(gains.candidate_id, decided.baseline_id) as selected_id,
        case
            when gains.candidate_id is not null then 'selected'
            when decided.passing = 0 and decided.indeterminate > 0 then 'undecided'
            else 'kept_baseline'
        end as outcome,
        gains.score,
    from decided
    left join gains using (campaign_id)
)

select * from chosen
