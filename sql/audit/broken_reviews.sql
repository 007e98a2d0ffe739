-- Broken reviews: reviews that break the law `review`. Must be empty; part of `violations`.
-- Grain: one row for each review.recorded that breaks it.
-- A review stands between its candidate's comparison and decision, approves or rejects, has a reviewer, and names the
-- digest of the comparison, which covers all evidence before it. Whether a signature is valid is for an audit to tell.
-- columns:
--   campaign_id: Campaign of the history.
--   sequence: Sequence of the offending event.
--   law: Name of the law.
--   detail: What stands there and what should.
with told as (
    select distinct
        campaign_id,
        sequence,
        type,
        digest,
        if(json_valid(payload), payload, '{}') as payload,
    from events
    where type in ('candidate.registered', 'comparison.recorded', 'review.recorded', 'decision.recorded')
),

parsed as (
    select
        campaign_id,
        sequence,
        type,
        digest,
        json_extract_string(payload, '$.candidate_id') as candidate_id,
        json_extract_string(payload, '$.comparison') as comparison,
        json_extract_string(payload, '$.verdict') as verdict,
        if(json_type(payload, '$.by') = 'VARCHAR', json_extract_string(payload, '$.by'), null) as reviewer,
    from told
),

firsts as (
    select
        campaign_id,
        candidate_id,
        min(sequence) filter (where type = 'candidate.registered') as registered_at,
        min(sequence) filter (where type = 'comparison.recorded') as compared_at,
        arg_min(digest, sequence) filter (where type = 'comparison.recorded') as comparison,
        min(sequence) filter (where type = 'decision.recorded') as decided_at,
    from parsed
    where type <> 'review.recorded'
    group by campaign_id, candidate_id
),

judged as (
    select
        parsed.campaign_id,
        parsed.sequence,
        'review' as law,
        case
            when coalesce(firsts.registered_at > parsed.sequence, true)
                then format('candidate {} is not registered', coalesce(parsed.candidate_id, 'nobody'))
            when coalesce(firsts.compared_at > parsed.sequence, true)
                then format('candidate {} has no recorded comparison', parsed.candidate_id)
            when firsts.decided_at < parsed.sequence then format('candidate {} is decided already', parsed.candidate_id)
            when parsed.comparison is distinct from firsts.comparison
                then 'the comparison reviewed is not the one recorded'
            when coalesce(parsed.verdict not in ('approve', 'reject'), true)
                then format('verdict {} is neither approve nor reject', coalesce(parsed.verdict, 'nothing'))
            when coalesce(parsed.reviewer, '') = '' then 'names nobody as the reviewer'
        end as detail,
    from parsed
    left join firsts using (campaign_id, candidate_id)
    where parsed.type = 'review.recorded'
),

offences as (
    select
        campaign_id,
        sequence,
        law,
        detail,
    from judged
    where detail is not null
)

select * from offences
