-- Reviews: what people said of candidates after the comparison and before the decision.
-- Grain: one row for each review that the ledger holds, superseded ones too.
-- Whether a review counts is for the gate `review` to say. A signature is verified when the review is recorded and by
-- every audit, never here.
-- columns:
--   campaign_id: Campaign of the candidate.
--   sequence: Position in the campaign's history; of two reviews by one reviewer the greater one stands.
--   candidate_id: Candidate that was reviewed.
--   verdict: approve or reject.
--   reviewer: Name that the reviewer gave.
--   comment: What the reviewer said; NULL where nothing.
--   comparison: Digest of the recorded comparison that was reviewed; it covers all evidence before it.
--   public_key: Ed25519 key that signed, as 64 hex digits; NULL where unsigned.
--   is_signed: Whether the review bears a key and a signature.
--   is_current: Whether `comparison` is the one recorded for the candidate.
--   recorded_at: UTC time at which the review was recorded.
with told as (
    select distinct
        campaign_id,
        sequence,
        type,
        recorded_at,
        digest,
        if(json_valid(payload), payload, '{}') as payload,
    from events
    where type in ('comparison.recorded', 'review.recorded')
),

compared as (
    select
        campaign_id,
        json_extract_string(payload, '$.candidate_id') as candidate_id,
        arg_min(digest, sequence) as comparison,
    from told
    where type = 'comparison.recorded'
    group by all
),

parsed as (
    select
        campaign_id,
        sequence,
        json_extract_string(payload, '$.candidate_id') as candidate_id,
        json_extract_string(payload, '$.verdict') as verdict,
        json_extract_string(payload, '$.by') as reviewer,
        json_extract_string(payload, '$.comment') as comment,
        json_extract_string(payload, '$.comparison') as comparison,
        json_extract_string(payload, '$.public_key') as public_key,
        json_extract_string(payload, '$.signature') as signature,
        recorded_at,
    from told
    where type = 'review.recorded'
),

described as (
    select
        parsed.campaign_id,
        parsed.sequence,
        parsed.candidate_id,
        parsed.verdict,
        parsed.reviewer,
        parsed.comment,
        parsed.comparison,
        parsed.public_key,
        parsed.public_key is not null and parsed.signature is not null as is_signed,
        coalesce(parsed.comparison = compared.comparison, false) as is_current,
        parsed.recorded_at,
    from parsed
    left join compared using (campaign_id, candidate_id)
)

select * from described
