-- Review standings: how the reviews of each candidate stand at each review gate of the policy.
-- Grain: one row for each candidate and gate of the kind review.
-- A review counts where it is of the recorded comparison and, where the gate lists `keys`, signed by one of them. The
-- latest counted review of each reviewer stands; a reviewer is a key where keys are listed, and a name otherwise.
-- columns:
--   campaign_id: Campaign.
--   candidate_id: Candidate.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   is_understood: Whether the gate's options can be followed; nothing else is known where they cannot.
--   needed: Approvals that the gate asks for; NULL where not understood.
--   approvals: Reviewers whose standing review approves.
--   rejections: Reviewers whose standing review rejects.
--   rejected_by: Name of the first of these; NULL where there is none.
--   is_awaited: Whether more reviews could still let the gate pass: nobody rejects, and approvals are lacking.
with asked as (
    select
        campaign_id,
        gate_ix,
        if(json_extract_string(options, '$.approvals') is null, 1, option_number(options, '$.approvals')) as needed,
        coalesce(json_type(options, '$.keys'), 'NULL') as keys_type,
        json_extract_string(options, '$.keys[*]') as keys,
    from policy_gates
    where kind = 'review'
),

understood as (
    select
        campaign_id,
        gate_ix,
        keys_type = 'ARRAY' and len(keys) > 0 as has_keys,
        keys,
        coalesce(needed >= 1 and needed <= 1000000 and needed = floor(needed), false)
        and keys_type in ('ARRAY', 'NULL')
        and len(list_filter(keys, lambda each: not coalesce(regexp_full_match(each, '[0-9a-f]{64}'), false))) = 0
        and (len(keys) = 0 or needed <= len(list_distinct(keys))) as is_understood,
        needed,
    from asked
),

counted as (
    select
        understood.campaign_id,
        understood.gate_ix,
        reviews.candidate_id,
        reviews.sequence,
        reviews.verdict,
        reviews.reviewer,
        if(understood.has_keys, reviews.public_key, reviews.reviewer) as identity,
    from understood
    inner join reviews using (campaign_id)
    where understood.is_understood
        and reviews.is_current
        and reviews.verdict in ('approve', 'reject')
        and reviews.reviewer is not null
        and (
            not understood.has_keys
            or coalesce(reviews.is_signed and list_contains(understood.keys, reviews.public_key), false)
        )
),

standing as (
    select
        campaign_id,
        gate_ix,
        candidate_id,
        verdict,
        reviewer,
        sequence,
    from counted
    qualify row_number() over (
        partition by campaign_id, gate_ix, candidate_id, identity
        order by sequence desc
    ) = 1
),

tallied as (
    select
        campaign_id,
        gate_ix,
        candidate_id,
        count(*) filter (where verdict = 'approve') as approvals,
        count(*) filter (where verdict = 'reject') as rejections,
        arg_min(reviewer, sequence) filter (where verdict = 'reject') as rejected_by,
    from standing
    group by campaign_id, gate_ix, candidate_id
),

described as (
    select
        understood.campaign_id,
        declared_candidates.candidate_id,
        understood.gate_ix,
        understood.is_understood,
        if(understood.is_understood, understood.needed::bigint, null) as needed,
        coalesce(tallied.approvals, 0) as approvals,
        coalesce(tallied.rejections, 0) as rejections,
        tallied.rejected_by,
        understood.is_understood
        and coalesce(tallied.rejections, 0) = 0
        and coalesce(tallied.approvals, 0) < understood.needed as is_awaited,
    from understood
    inner join declared_candidates using (campaign_id)
    left join tallied using (campaign_id, gate_ix, candidate_id)
    where declared_candidates.arm = 'candidate'
)

select * from described
