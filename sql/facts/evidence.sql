-- Evidence: what was computed from the cells outside of SQL, and recorded with all that it takes to repeat it.
-- Grain: one row for each `evidence.recorded` event, candidate that it tells of, and measure.
-- A number that is not finite, and a member that is not what it should be, is NULL.
-- columns:
--   campaign_id: Campaign.
--   sequence: Sequence of the event.
--   gate_ix: Position of the gate that reads it, counted from 0.
--   name: Name of that gate.
--   method: How it was computed.
--   parameters: Parameters of the method, as JSON.
--   seed: Seed of its random numbers, as 16 hex digits.
--   input_digest: Digest of the rows it was computed from.
--   candidate_id: Candidate.
--   measure: What was estimated: quantile, ratio (of the candidate's quantile to the baseline's) or mean.
--   estimate: Estimate; NULL where there is none.
--   low: Lower limit; NULL where there is none.
--   high: Upper limit; NULL where there is none.
--   p_value: P-value; NULL where there is none.
--   reason: Why something is NULL; NULL where nothing is.
with recorded as (
    select distinct
        campaign_id,
        sequence,
        if(json_valid(payload), payload, '{}') as payload,
    from events
    where type = 'evidence.recorded'
),

listed as (
    select
        campaign_id,
        sequence,
        payload,
        unnest(json_extract(payload, '$.results[*]')) as result,
    from recorded
),

described as (
    select
        campaign_id,
        sequence,
        try_cast(json_extract_string(payload, '$.gate_ix') as integer) as gate_ix,
        json_extract_string(payload, '$.name') as name,
        json_extract_string(payload, '$.method') as method,
        json_extract(payload, '$.parameters')::varchar as parameters,
        json_extract_string(payload, '$.seed') as seed,
        json_extract_string(payload, '$.input_digest') as input_digest,
        json_extract_string(result, '$.candidate_id') as candidate_id,
        json_extract_string(result, '$.measure') as measure,
        option_number(result, '$.estimate') as estimate,
        option_number(result, '$.low') as low,
        option_number(result, '$.high') as high,
        option_number(result, '$.p_value') as p_value,
        json_extract_string(result, '$.reason') as reason,
    from listed
)

select * from described
