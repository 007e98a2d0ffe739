-- Conclusions: what a campaign comes to, or what keeps it from that, and why, in words.
-- Grain: one row for each campaign.
-- Reason: `cancelled`; `no_candidate`, nothing is compared; `pending`, cells are missing; `not_ended`, none is, but the end
-- is not recorded; `awaiting_review`, only people can decide now; `not_whole`, it has ended, but files do not hold what the
-- ledger accepted; `no_evidence`, every trial failed for want of infrastructure; `indeterminate`, none passes and evidence cannot judge one at least; `selected`; `no_preference`,
-- candidates pass, but the policy names no metric that ranks them; `no_gain`, candidates pass, but none is known to gain
-- more than the policy's least; `all_fail`. Of a campaign that has ended, it is what its views find now: what was recorded
-- stands in `campaigns`.
-- columns:
--   campaign_id: Campaign.
--   standing: cancelled, nothing, unfinished, awaiting, undecided, selected or kept: what becomes of the baseline.
--   reason: Why, one of those above.
--   message: Why, in words; begins small and ends without a full stop, so that it can stand in a sentence.
--   remedy: What would change it, in words; NULL where that is more evidence, or another candidate.
--   passing: Candidates that pass.
--   failing: Candidates that fail.
--   indeterminate: Candidates that are indeterminate.
with counts as (
    select
        campaign_id,
        count(*) filter (where decision = 'pass') as passing,
        count(*) filter (where decision = 'pass' and score is not null) as ranked,
        count(*) filter (where decision = 'fail') as failing,
        count(*) filter (where decision = 'indeterminate') as indeterminate,
    from decisions
    group by campaign_id
),

grid as (
    select
        campaign_id,
        sum(declared)::bigint as declared,
        sum(accepted)::bigint as accepted,
        sum(infrastructure_failure)::bigint as infrastructure_failure,
        sum(missing)::bigint as missing,
    from arm_cells
    group by campaign_id
),

breaking as (
    select
        campaign_id,
        failure_code,
        sum(cells)::bigint as cells,
    from failures
    where status = 'infrastructure_failure'
    group by campaign_id, failure_code
    qualify row_number() over (partition by campaign_id order by sum(cells) desc, failure_code nulls last) = 1
),

waiting as (
    select
        campaign_id,
        count(*) as candidates,
    from awaiting_reviews
    group by campaign_id
),

known as (
    select
        campaigns.campaign_id,
        campaigns.state,
        campaigns.preference,
        campaigns.min_gain,
        selection.outcome,
        selection.score,
        coalesce(counts.passing, 0) as passing,
        coalesce(counts.ranked, 0) as ranked,
        coalesce(counts.failing, 0) as failing,
        coalesce(counts.indeterminate, 0) as indeterminate,
        coalesce(grid.declared, 0) as declared,
        coalesce(grid.accepted, 0) as accepted,
        coalesce(grid.missing, 0) as missing,
        coalesce(grid.accepted > 0 and grid.infrastructure_failure = grid.accepted, false) as is_all_broken,
        coalesce(waiting.candidates, 0) as awaiting,
        breaking.failure_code as breaking_code,
        breaking.cells as breaking_cells,
    from campaigns
    left join counts using (campaign_id)
    left join grid using (campaign_id)
    left join breaking using (campaign_id)
    left join waiting using (campaign_id)
    left join selection using (campaign_id)
),

reasoned as (
    select
        *,
        passing + failing + indeterminate as candidates,
        case
            when state = 'cancelled' then 'cancelled'
            when passing + failing + indeterminate = 0 and (state = 'completed' or missing = 0) then 'no_candidate'
            when state = 'running' and awaiting > 0 then 'awaiting_review'
            when state = 'running' and missing > 0 then 'pending'
            when state = 'running' then 'not_ended'
            when outcome is null then 'not_whole'
            when outcome = 'undecided' then if(is_all_broken, 'no_evidence', 'indeterminate')
            when outcome = 'selected' then 'selected'
            when passing > 0 then if(preference is null, 'no_preference', 'no_gain')
            else 'all_fail'
        end as reason,
        'every trial' || if(missing > 0, ' so far', '') || ' failed for want of infrastructure'
        || coalesce(format(', most often by {} ({})', breaking_code, counted(breaking_cells, 'cell')), '')
            as breaking_words,
    from known
),

told as (
    select
        campaign_id,
        case
            when reason = 'cancelled' then 'cancelled'
            when reason = 'no_candidate' then 'nothing'
            when reason in ('pending', 'not_ended') then 'unfinished'
            when reason = 'awaiting_review' then 'awaiting'
            when reason in ('not_whole', 'no_evidence', 'indeterminate') then 'undecided'
            when reason = 'selected' then 'selected'
            else 'kept'
        end as standing,
        reason,
        case reason
            when 'cancelled' then format('cancelled after {:,} of {}: no verdict', accepted, counted(declared, 'cell'))
            when 'no_candidate' then 'there is no candidate, so nothing is compared'
            when 'awaiting_review'
                then format(
                    'everything is measured, and {} the approval of people before a verdict stands',
                    if(candidates = 1, 'the candidate needs', counted(awaiting, 'candidate') || if(awaiting = 1, ' needs', ' need'))
                )
            when 'pending'
                then format(
                    '{:,} of {} {} still missing, so no verdict stands yet{}',
                    missing, counted(declared, 'cell'), if(missing = 1, 'is', 'are'),
                    if(is_all_broken, '; ' || breaking_words, '')
                )
            when 'not_ended' then 'every declared cell is there, but the campaign is not ended, so no verdict stands yet'
            when 'not_whole' then 'the files do not hold all that the ledger accepted, so no figure stands'
            when 'no_evidence' then breaking_words || ', so there is nothing to judge by'
            when 'indeterminate'
                then format(
                    'the evidence cannot judge {}{}',
                    counted(indeterminate, 'candidate'),
                    if(failing > 0, format(', and {:,} {}', failing, if(failing = 1, 'fails', 'fail')), '')
                )
            when 'selected'
                then format(
                    'it passes every gate, and its oriented change of {} exceeds {}', preference, in_words(min_gain)
                )
            when 'no_preference'
                then format(
                    '{} {}, but nothing can be selected, since the policy names no preferred metric',
                    counted(passing, 'candidate'), if(passing = 1, 'passes', 'pass')
                )
            when 'no_gain'
                then format(
                    '{} {}, but {}',
                    counted(passing, 'candidate'), if(passing = 1, 'passes', 'pass'),
                    case ranked
                        when 0 then format('no change of {} is known', preference)
                        when passing then format('none gains more than {} of {}', in_words(min_gain), preference)
                        else format('none is known to gain more than {} of {}', in_words(min_gain), preference)
                    end
                )
            else
                case candidates
                    when 1 then 'the only candidate fails'
                    when 2 then 'both candidates fail'
                    else format('all {} fail', counted(candidates, 'candidate'))
                end
        end as message,
        case
            when reason = 'cancelled' then 'a new campaign: a cancelled one never goes on'
            when reason = 'no_candidate' then 'a campaign with at least one candidate'
            when reason = 'pending' then 'the missing cells: `opfield resume` goes on'
            when reason = 'not_whole' then 'whole files: `opfield audit` says what is damaged or missing'
            when reason = 'not_ended' then '`opfield resume`, which ends it'
            when preference is null and passing + indeterminate > 0
                then 'a policy that names a metric with `prefer=`: passing candidates are ranked by its change, and only '
                    || 'a ranked one can be selected'
            when reason = 'no_gain'
                then format('a candidate that passes and gains more than {} of {}', in_words(min_gain), preference)
            when reason = 'no_evidence' then 'a new campaign whose runner reaches what it needs'
        end as remedy,
        passing,
        failing,
        indeterminate,
    from reasoned
)

select * from told
