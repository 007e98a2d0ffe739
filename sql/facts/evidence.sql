-- Evidence: what was computed from the cells outside of SQL, and recorded with all that it takes to repeat it.
-- Grain: one row for each `evidence.recorded` event and candidate that it tells of.
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
--   estimate: Estimate; NULL where there is none.
--   low: Lower limit; NULL where there is none.
--   high: Upper limit; NULL where there is none.
--   p_value: P-value; NULL where there is none.
--   reason: Why something is NULL; NULL where nothing is.
with recorded as (
    select distinct
        campaign_id,
        sequence,
        payload,
        from_json(json_extract(payload, '$.results'), '[{
            "candidate_id": "VARCHAR", "estimate": "DOUBLE", "low": "DOUBLE", "high": "DOUBLE", "p_value": "DOUBLE",
            "reason": "VARCHAR"
        }]') as results,
    from events
    where type = 'evidence.recorded'
),

listed as (
    select
        campaign_id,
        sequence,
        payload,
        unnest(results) as result,
    from recorded
),

described as (
    select
        campaign_id,
        sequence,
        json_extract_string(payload, '$.gate_ix')::integer as gate_ix,
        json_extract_string(payload, '$.name') as name,
        json_extract_string(payload, '$.method') as method,
        json_extract(payload, '$.parameters')::varchar as parameters,
        json_extract_string(payload, '$.seed') as seed,
        json_extract_string(payload, '$.input_digest') as input_digest,
        result.candidate_id as candidate_id,
        result.estimate as estimate,
        result.low as low,
        result.high as high,
        result.p_value as p_value,
        result.reason as reason,
    from listed
)

select * from described
