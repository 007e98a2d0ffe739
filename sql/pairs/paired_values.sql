-- Paired values: what each arm has at the places where arms are paired.
-- Grain: one row for each candidate, metric and place with a usable value, the baseline's included.
-- Where repeats pair, a place is a case and repeat, and the value is the observation there. Where the rounds of the arms
-- are independent (coupling none) a place is a case, told as repeat 0, and the value is the mean of the arm's usable
-- values over the repeats that it declares there.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate, or the baseline.
--   arm: baseline or candidate.
--   case_id: Case.
--   repeat: Repeat, counted from 0; 0 where a place is a case.
--   metric: Metric.
--   value: Value in the metric's own unit and direction.
--   measured_value: The same without what stands for domain failures; NULL where nothing else is there.
--   found: Usable values that it is the mean of.
--   declared: Repeats that the arm declares at the place; where fewer were found, the place has a gap.
with coupled as (
    select
        campaign_id,
        candidate_id,
        arm,
        case_id,
        repeat,
        metric,
        value,
        if(is_imputed, null, value) as measured_value,
        1::bigint as found,
        1::bigint as declared,
    from observations
    semi join (select campaign_id from declarations where coupling is distinct from 'none') using (campaign_id)
),

independent as (
    select
        observations.campaign_id,
        observations.candidate_id,
        observations.arm,
        observations.case_id,
        0::integer as repeat,
        observations.metric,
        favg(observations.value) as value,
        favg(observations.value) filter (where not observations.is_imputed) as measured_value,
        count(*) as found,
        any_value(independent_repeats.repeats)::bigint as declared,
    from observations
    inner join independent_repeats using (campaign_id, candidate_id, arm, case_id)
    where observations.repeat < independent_repeats.repeats
    group by
        observations.campaign_id,
        observations.candidate_id,
        observations.arm,
        observations.case_id,
        observations.metric
),

paired as (
    select * from coupled
    union all
    select * from independent
)

select * from paired
