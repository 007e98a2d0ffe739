-- Gate kind budget: did the trials spend no more than is allowed?
-- Grain: one row for each candidate, gate of this kind and scope.
-- Options: `at_most`, what may be spent; `of`, what is counted: cost_usd (unless given), input_tokens, output_tokens,
-- tokens (input and output together) or duration_s; `over`, whose cells: candidate (unless given) or campaign, that is
-- the baseline and all candidates together. Every accepted cell counts, whatever its status. A cell's money and tokens
-- cover all its attempts and are unknown where one of them is; its duration covers the accepted attempt alone, so that
-- of a cell with several attempts it is known in part. What is not a finite number of at least 0 is unknown. A cell of
-- a case that was never declared belongs to no scope and counts nowhere; gate kind coverage tells it.
-- Unknown is never zero: what is known fails the gate by itself where it exceeds the bound, and passes only where no
-- cell and no declared coordinate is left unknown. The comparison has no slack.
-- needs: at_most
-- takes: of, at_most, over, within
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Cases that were judged over, as in `judged_scopes`; empty for all of them.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: What is known to be spent, a lower bound where some of it is unknown; NULL where nothing is known.
--   threshold: What may be spent.
with asked as (
    select
        campaign_id,
        gate_ix,
        coalesce(json_extract_string(options, '$.of'), 'cost_usd') as resource,
        coalesce(json_extract_string(options, '$.over'), 'candidate') as spender,
        option_number(options, '$.at_most') as at_most,
    from policy_gates
    where kind = 'budget'
),

understood as (
    select
        asked.*,
        judged_scopes.scope,
        coalesce(at_most >= 0, false)
        and resource in ('cost_usd', 'input_tokens', 'output_tokens', 'tokens', 'duration_s')
        and spender in ('candidate', 'campaign') as is_understood,
    from asked
    inner join judged_scopes using (campaign_id, gate_ix)
),

-- An account is one candidate's, or, where the whole campaign is asked about, everybody's: its name is then empty.
charged_cells as (
    select
        understood.campaign_id,
        understood.gate_ix,
        understood.scope,
        if(understood.spender = 'campaign', '', cells.candidate_id) as account,
        understood.resource,
        cells.attempts,
        case understood.resource
            when 'cost_usd' then cells.cost_usd
            when 'duration_s' then cells.duration_s
            when 'output_tokens' then cells.output_tokens
            else cells.input_tokens
        end::double as first_part,
        if(understood.resource = 'tokens', cells.output_tokens, null)::double as second_part,
    from understood
    inner join scope_cases using (campaign_id, scope)
    inner join cells using (campaign_id, case_id)
),

checked_cells as (
    select
        campaign_id,
        gate_ix,
        scope,
        account,
        resource,
        attempts,
        if(is_usable(first_part) and first_part >= 0, first_part, null) as first_part,
        if(is_usable(second_part) and second_part >= 0, second_part, null) as second_part,
    from charged_cells
),

charges as (
    select
        campaign_id,
        gate_ix,
        scope,
        account,
        coalesce(first_part + second_part, first_part, second_part) as known,
        first_part is not null
        and (resource <> 'tokens' or second_part is not null)
        and (resource <> 'duration_s' or attempts <= 1) as is_known,
        false as is_pending,
    from checked_cells

    union all

    select
        understood.campaign_id,
        understood.gate_ix,
        understood.scope,
        if(understood.spender = 'campaign', '', pending.candidate_id) as account,
        null as known,
        false as is_known,
        true as is_pending,
    from understood
    inner join scope_cases using (campaign_id, scope)
    inner join pending using (campaign_id, case_id)
),

accounts as (
    select
        campaign_id,
        gate_ix,
        scope,
        account,
        fsum(known) as known,
        count(*) filter (where not is_known and not is_pending) as unknown_cells,
        count(*) filter (where is_pending) as pending_cells,
    from charges
    group by campaign_id, gate_ix, scope, account
),

candidates_whole as (
    select
        campaign_id,
        candidate_id,
        is_comparable,
        bool_and(is_comparable) over (partition by campaign_id) as is_campaign_comparable,
    from integrity
),

scope_sizes as (
    select campaign_id, scope, count(*) as cases
    from scope_cases
    group by campaign_id, scope
),

compared as (
    select
        understood.campaign_id,
        candidates_whole.candidate_id,
        understood.gate_ix,
        understood.scope,
        understood.resource,
        understood.spender,
        understood.at_most,
        understood.is_understood,
        if(
            understood.spender = 'campaign', candidates_whole.is_campaign_comparable, candidates_whole.is_comparable
        ) as is_comparable,
        coalesce(scope_sizes.cases, 0) as cases,
        accounts.known,
        coalesce(accounts.unknown_cells, 0) as unknown_cells,
        coalesce(accounts.pending_cells, 0) as pending_cells,
    from understood
    inner join declarations using (campaign_id)
    inner join candidates_whole
        on understood.campaign_id = candidates_whole.campaign_id
        and candidates_whole.candidate_id <> declarations.baseline_id
    left join scope_sizes
        on understood.campaign_id = scope_sizes.campaign_id and understood.scope = scope_sizes.scope
    left join accounts
        on understood.campaign_id = accounts.campaign_id
        and understood.gate_ix = accounts.gate_ix
        and understood.scope = accounts.scope
        and if(understood.spender = 'campaign', '', candidates_whole.candidate_id) = accounts.account
),

judged as (
    select
        campaign_id,
        candidate_id,
        gate_ix,
        scope,
        case
            when not is_comparable or not is_understood or cases = 0 then 'indeterminate'
            when known > at_most then 'fail'
            when unknown_cells = 0 and pending_cells = 0 and known <= at_most then 'pass'
            else 'indeterminate'
        end as status,
        case
            when not is_comparable then not_whole_message()
            when not is_understood
                then 'an option is not understood: at_most is a finite number of at least 0, of is cost_usd, '
                    || 'input_tokens, output_tokens, tokens or duration_s, over is candidate or campaign'
            when cases = 0 then no_case_message()
            else format('{} of the {} is ', resource, spender)
                || if(known is not null and unknown_cells + pending_cells > 0, 'at least ', '')
                || format('{}, at most {} asked', in_words(known), in_words(at_most))
                || if(unknown_cells > 0, format('; cells that do not know all of theirs: {}', unknown_cells), '')
                || if(pending_cells > 0, format('; declared coordinates without a cell: {}', pending_cells), '')
        end as message,
        if(is_comparable and is_understood, known, null) as value,
        at_most as threshold,
    from compared
)

select * from judged

