-- Violations: events that break a law of a campaign's history. Must be empty.
-- Grain: one row for each event and law that it breaks; an event may break several.
-- The writer refuses such an event, so that a row here means the ledger was altered, lost a file, or was written past
-- the writer. Laws: `sequence` numbers run 1, 2, 3 without gap or repeat; `start` campaign.started comes first and only
-- first; `grid`: where a campaign declares its number of coordinates, it is fixed, has no sequential gate, and runs each
-- case at least once and at most `repeats` times on each arm; `digest` covers the content and the predecessor's digest;
-- `fence` never falls; `version`, `type` and `payload` are known and readable; `candidate` is declared, registered once,
-- and not the baseline; `trial` belongs to a registered candidate or the baseline, on its arm, with a terminal status, a
-- declared repeat, and before its comparison, all computed evidence and the closing of the `plan` by a sequential gate;
-- `coordinate` is accepted once; `evidence` belongs to a gate of the policy, once for each, when no cell is pending and
-- before the first comparison; `comparison` and `decision` come once each, in this order, after the registration; a
-- `review` stands between the two, approves or rejects, has a reviewer, and names the digest of the comparison;
-- `completion` follows the last decision and selects a candidate or the baseline; nothing follows the `terminal` event.
-- columns:
--   campaign_id: Campaign of the history.
--   sequence: Sequence of the offending event.
--   law: Name of the law.
--   detail: What stands there and what should.
with told as (
    select
        campaign_id,
        sequence,
        type,
        if(json_valid(payload), payload, '{}') as payload,
    from events
),

parsed as (
    select
        campaign_id,
        sequence,
        type,
        json_extract_string(payload, '$.candidate_id') as candidate_id,
        json_extract_string(payload, '$.arm') as arm,
        if(json_type(payload, '$.case_id') = 'VARCHAR', json_extract_string(payload, '$.case_id'), null) as case_id,
        if(
            json_type(payload, '$.repeat') in ('BIGINT', 'UBIGINT'),
            try_cast(json_extract_string(payload, '$.repeat') as integer),
            null
        ) as repeat,
        json_extract_string(payload, '$.status') as status,
        json_extract_string(payload, '$.decision') as decision,
        json_extract_string(payload, '$.selected') as selected_id,
    from told
),

firsts as (
    select
        campaign_id,
        candidate_id,
        min(sequence) filter (where type = 'candidate.registered') as registered_at,
        min(sequence) filter (where type = 'comparison.recorded') as compared_at,
        min(sequence) filter (where type = 'decision.recorded') as decided_at,
    from parsed
    where type in ('candidate.registered', 'comparison.recorded', 'decision.recorded')
    group by campaign_id, candidate_id
),

campaign_firsts as (
    select
        campaign_id,
        min(sequence) filter (where type = 'comparison.recorded') as compared_at,
        min(sequence) filter (where type = 'evidence.recorded') as evidenced_at,
        min(sequence) filter (where type = 'plan.closed') as closed_at,
    from told
    where type in ('comparison.recorded', 'evidence.recorded', 'plan.closed')
    group by campaign_id
),

placed as (
    select
        parsed.*,
        declarations.baseline_id,
        declarations.repeats,
        declarations.candidate_ids,
        parsed.candidate_id is not distinct from declarations.baseline_id as is_baseline,
        coalesce(firsts.registered_at < parsed.sequence, false) as is_registered,
        coalesce(firsts.compared_at < parsed.sequence, false) as is_compared,
        coalesce(firsts.decided_at < parsed.sequence, false) as is_decided,
        coalesce(campaign_firsts.compared_at < parsed.sequence, false) as is_any_compared,
        coalesce(campaign_firsts.closed_at < parsed.sequence, false) as is_closed,
        coalesce(campaign_firsts.evidenced_at < parsed.sequence, false) as is_any_evidenced,
    from parsed
    left join declarations using (campaign_id)
    left join firsts using (campaign_id, candidate_id)
    left join campaign_firsts using (campaign_id)
),

repeated_sequences as (
    select
        campaign_id,
        sequence,
        'sequence' as law,
        format('{} events bear this sequence', count(*)) as detail,
    from events
    group by campaign_id, sequence
    having count(*) > 1
),

linked as (
    select
        events.campaign_id,
        events.sequence,
        previous.sequence is not null as has_previous,
        events.digest,
        'sha256:' || sha256(
            encode('opfield/event/v1') || unhex('00')
            || event_part(coalesce(previous.digest, ''))
            || event_part(events.campaign_id)
            || event_part(events.sequence::varchar)
            || event_part(events.type)
            || event_part(events.schema_version::varchar)
            || event_part(strftime(events.recorded_at, '%Y-%m-%dT%H:%M:%S.%fZ'))
            || event_part(events.fence::varchar)
            || event_part(events.payload)
        ) as expected_digest,
    from events
    left join events as previous
        on events.campaign_id = previous.campaign_id and events.sequence = previous.sequence + 1
),

broken_sequences as (
    select
        campaign_id,
        sequence,
        'sequence' as law,
        'the event before it is missing' as detail,
    from linked
    where sequence <> 1 and not has_previous
),

broken_digests as (
    select
        campaign_id,
        sequence,
        'digest' as law,
        format('bears {}, but content and predecessor give {}', digest, expected_digest) as detail,
    from linked
    where digest <> expected_digest and (has_previous or sequence = 1)
),

broken_starts as (
    select
        campaign_id,
        sequence,
        'start' as law,
        format('{} at sequence {}; campaign.started is the first event and only the first', type, sequence) as detail,
    from events
    where (sequence = 1) <> (type = 'campaign.started')
),

broken_declarations as (
    select
        campaign_id,
        sequence,
        'payload' as law,
        'states no baseline, or no number of cases or repeats' as detail,
    from told
    where type = 'campaign.started'
        and not coalesce(
            json_type(payload, '$.baseline_id') = 'VARCHAR'
            and json_type(payload, '$.cases') in ('BIGINT', 'UBIGINT')
            and json_type(payload, '$.identity.repeats') in ('BIGINT', 'UBIGINT'),
            false
        )
),

ragged as (
    select
        campaign_id,
        sequence,
        if(
            json_type(payload, '$.coordinates') in ('BIGINT', 'UBIGINT'),
            try_cast(json_extract_string(payload, '$.coordinates') as hugeint),
            null
        ) as coordinates,
        json_type(payload, '$.identity.candidates') = 'ARRAY' as is_fixed,
        if(
            json_type(payload, '$.identity.policy.gates') = 'ARRAY',
            json_array_length(payload, '$.identity.policy.gates'),
            null
        ) as gates,
        json_extract_string(payload, '$.identity.policy.gates[*].kind') as gate_kinds,
        try_cast(json_extract_string(payload, '$.cases') as hugeint)
        * (1 + len(list_distinct(json_extract_string(payload, '$.identity.candidates[*]')))) as least,
        try_cast(json_extract_string(payload, '$.identity.repeats') as hugeint) as repeats,
    from told
    where type = 'campaign.started' and coalesce(json_type(payload, '$.coordinates'), 'NULL') <> 'NULL'
),

broken_grids as (
    select
        campaign_id,
        sequence,
        'grid' as law,
        case
            when not coalesce(is_fixed, false) then 'states coordinates, but its candidates come as it goes'
            when not coalesce(len(gate_kinds) = gates and not list_contains(gate_kinds, 'sequential'), false)
                then 'states coordinates, but a sequential gate may close its plan'
            when not coalesce(least >= 1 and coordinates >= least and (coordinates - 1) // nullif(least, 0) < repeats, false)
                then format(
                    '{} coordinates are not {} times 1 to {}',
                    coalesce(coordinates::varchar, 'unknown'),
                    coalesce(least::varchar, 'unknown'),
                    coalesce(repeats::varchar, 'unknown')
                )
        end as detail,
    from ragged
),

broken_fences as (
    select
        campaign_id,
        sequence,
        'fence' as law,
        format('fence {} is older than {}', fence, newest) as detail,
    from (
        select
            campaign_id,
            sequence,
            fence,
            max(fence) over (
                partition by campaign_id
                order by sequence
                rows between unbounded preceding and 1 preceding
            ) as newest,
        from events
    )
    where fence < newest
),

broken_frames as (
    select
        campaign_id,
        sequence,
        unnest([
            if(schema_version > 1, 'version', null),
            if(
                type not in (
                    'campaign.started', 'candidate.registered', 'trial.completed', 'plan.closed',
                    'evidence.recorded', 'comparison.recorded', 'review.recorded', 'decision.recorded', 'campaign.completed',
                    'campaign.cancelled'
                ),
                'type',
                null
            ),
            if(case when json_valid(payload) then json_type(payload) = 'OBJECT' else false end, null, 'payload'),
        ]) as law,
        format('type {}, schema version {}: unknown here, or no JSON object', type, schema_version) as detail,
    from events
),

after_end as (
    select
        events.campaign_id,
        events.sequence,
        'terminal' as law,
        format('{} after the campaign ended at event {}', events.type, ended.sequence) as detail,
    from events
    inner join (
        select campaign_id, min(sequence) as sequence
        from events
        where type in ('campaign.completed', 'campaign.cancelled')
        group by campaign_id
    ) as ended
        on events.campaign_id = ended.campaign_id and events.sequence > ended.sequence
),

broken_candidates as (
    select
        campaign_id,
        sequence,
        'candidate' as law,
        case
            when is_registered then format('{} is registered already', candidate_id)
            when is_baseline then format('{} is the baseline', candidate_id)
            else format('{} is not among the campaign''s candidates', coalesce(candidate_id, 'nobody'))
        end as detail,
    from placed
    where type = 'candidate.registered'
        and (
            is_registered
            or is_baseline
            or not coalesce(list_contains(candidate_ids, candidate_id), candidate_ids is null)
        )
),

broken_trials as (
    select
        campaign_id,
        sequence,
        'trial' as law,
        case
            when not (is_registered or is_baseline)
                then format('candidate {} is not registered', coalesce(candidate_id, 'nobody'))
            when arm is distinct from if(is_baseline, 'baseline', 'candidate')
                then format('arm {} of a cell that belongs to the other', coalesce(arm, 'nothing'))
            when coalesce(status not in ('success', 'domain_failure', 'infrastructure_failure', 'cancelled'), true)
                then format('status {} is not terminal', coalesce(status, 'nothing'))
            when coalesce(repeat < 0 or repeat >= repeats, true)
                then format('repeat {} is outside the declared repeats', coalesce(repeat::varchar, 'nothing'))
            when case_id is null then 'the case id is no text'
            when is_compared or (is_baseline and is_any_compared)
                then 'a comparison over these cells is recorded already'
            when is_closed then 'the plan was closed before'
            when is_any_evidenced then 'computed evidence over these cells is recorded already'
        end as detail,
    from placed
    where type = 'trial.completed'
),

repeated_coordinates as (
    select
        campaign_id,
        max(sequence) as sequence,
        'coordinate' as law,
        format(
            '{} {} is accepted {} times for {}', case_id, coalesce(repeat::varchar, ''), count(*), candidate_id
        ) as detail,
    from parsed
    where type = 'trial.completed'
    group by campaign_id, candidate_id, case_id, repeat
    having count(*) > 1
),

broken_comparisons as (
    select
        campaign_id,
        sequence,
        'comparison' as law,
        if(is_compared, format('candidate {} is compared already', candidate_id), 'the candidate is not registered')
            as detail,
    from placed
    where type = 'comparison.recorded' and (is_compared or not is_registered)
),

broken_decisions as (
    select
        campaign_id,
        sequence,
        'decision' as law,
        case
            when is_decided then format('candidate {} is decided already', candidate_id)
            when not is_compared then 'the candidate has no recorded comparison'
            else format('decision {} is no verdict', coalesce(decision, 'nothing'))
        end as detail,
    from placed
    where type = 'decision.recorded'
        and (
            is_decided
            or not is_compared
            or coalesce(decision not in ('pass', 'fail', 'indeterminate'), true)
        )
),

completions as (
    select
        completed.campaign_id,
        completed.sequence,
        completed.selected_id,
        completed.baseline_id,
        count(*) filter (where declared_candidates.arm = 'candidate') as candidates,
        count(*) filter (where declared_candidates.arm = 'candidate' and firsts.decided_at < completed.sequence)
            as decided,
        coalesce(
            bool_or(completed.selected_id = firsts.candidate_id and firsts.registered_at < completed.sequence), false
        ) as is_selected_registered,
    from placed as completed
    left join declared_candidates on completed.campaign_id = declared_candidates.campaign_id
    left join firsts
        on declared_candidates.campaign_id = firsts.campaign_id
        and declared_candidates.candidate_id = firsts.candidate_id
    where completed.type = 'campaign.completed'
    group by completed.campaign_id, completed.sequence, completed.selected_id, completed.baseline_id
),

broken_completions as (
    select
        campaign_id,
        sequence,
        'completion' as law,
        if(
            decided < candidates,
            format('candidates not decided: {}', candidates - decided),
            format('selected {} is neither a candidate nor the baseline', coalesce(selected_id, 'nobody'))
        ) as detail,
    from completions
    where decided < candidates
        or not (is_selected_registered or coalesce(selected_id = baseline_id, false))
),

offences as (
    select * from repeated_sequences
    union all
    select * from broken_sequences
    union all
    select * from broken_digests
    union all
    select * from broken_starts
    union all
    select * from broken_declarations
    union all
    select * from broken_grids where detail is not null
    union all
    select * from broken_fences
    union all
    select * from broken_frames where law is not null
    union all
    select * from after_end
    union all
    select * from broken_candidates
    union all
    select * from broken_trials where detail is not null
    union all
    select * from repeated_coordinates
    union all
    select * from broken_closings
    union all
    select * from broken_evidence
    union all
    select * from broken_comparisons
    union all
    select * from broken_reviews
    union all
    select * from broken_decisions
    union all
    select * from broken_completions
)

select * from offences
