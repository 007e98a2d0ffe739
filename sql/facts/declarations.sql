-- Declarations: what a campaign laid down in its first event, before the first trial.
-- Grain: one row for each campaign whose ledger begins with campaign.started.
-- A campaign with events but without a row here has lost its beginning: `violations` says so.
-- columns:
--   campaign_id: Identity of the campaign.
--   name: Name that its author gave it.
--   repeats: How often each case is declared to run, on each arm; the most of any, where that differs.
--   coordinates: Number of declared coordinates over all arms, where cases run differently often; NULL where each runs
--     `repeats` times.
--   cases: Number of declared cases.
--   candidates: Number of declared candidates, the baseline not counted; NULL where a proposer brings them as it goes.
--   candidate_ids: Ids of the declared candidates; NULL where a proposer brings them as it goes.
--   metrics: Number of declared metrics.
--   baseline_id: Candidate id of the baseline.
--   baseline_digest: Digest of the baseline's specification.
--   workload_id: Name of the workload.
--   workload_digest: Digest of the workload.
--   space: Space that the candidates are drawn from.
--   proposer: What proposed the candidates.
--   runner_id: Identity of the runner.
--   runner_version: Version of the runner.
--   coupling: common_seed, replayed or none: what the two arms of a pair share.
--   reproducibility: structural, material, seeded, distributional or observational.
--   policy_digest: Digest of the SQL that judges.
--   gates: Gates of the policy, in the order in which they decide.
--   preference: Metric whose oriented change ranks the passing candidates; NULL where there is no preference.
--   min_gain: What the best candidate's score must exceed to be selected.
--   infers_to: cases_like_these, of which the cases are a sample, or these_cases, which are then all there is.
--   seed_root: Root of all seeds, as 16 hex digits.
--   confirms: Campaign whose selected candidate this one tries again on fresh cases; NULL for others.
--   started_at: UTC time of the first event.
with started as (
    select distinct
        campaign_id,
        recorded_at,
        payload,
        json_extract(payload, '$.identity') as identity,
    from events
    where type = 'campaign.started' and sequence = 1
),

described as (
    select
        campaign_id,
        json_extract_string(identity, '$.name') as name,
        json_extract_string(identity, '$.repeats')::integer as repeats,
        try_cast(json_extract_string(payload, '$.coordinates') as bigint) as coordinates,
        json_extract_string(payload, '$.cases')::bigint as cases,
        json_array_length(identity, '$.candidates')::bigint as candidates,
        from_json(json_extract(identity, '$.candidates'), '["VARCHAR"]') as candidate_ids,
        json_array_length(identity, '$.metrics')::bigint as metrics,
        json_extract_string(payload, '$.baseline_id') as baseline_id,
        json_extract_string(identity, '$.baseline') as baseline_digest,
        json_extract_string(payload, '$.workload_id') as workload_id,
        json_extract_string(identity, '$.workload') as workload_digest,
        json_extract_string(identity, '$.space') as space,
        json_extract_string(identity, '$.proposer') as proposer,
        json_extract_string(identity, '$.runner.id') as runner_id,
        json_extract_string(identity, '$.runner.version') as runner_version,
        json_extract_string(identity, '$.coupling') as coupling,
        json_extract_string(payload, '$.reproducibility') as reproducibility,
        json_extract_string(identity, '$.policy.sql') as policy_digest,
        from_json(json_extract(identity, '$.policy.gates'), '[{
            "kind": "VARCHAR", "name": "VARCHAR", "metric": "VARCHAR", "threshold": "DOUBLE", "options": "JSON"
        }]') as gates,
        json_extract_string(identity, '$.policy.preference') as preference,
        coalesce(json_extract_string(identity, '$.policy.min_gain')::double, 0) as min_gain,
        coalesce(json_extract_string(identity, '$.policy.infers_to'), 'cases_like_these') as infers_to,
        json_extract_string(identity, '$.seed_root') as seed_root,
        json_extract_string(identity, '$.confirms.campaign_id') as confirms,
        recorded_at as started_at,
    from started
)

select * from described
