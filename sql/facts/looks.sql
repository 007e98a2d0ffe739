-- Looks: when each gate of a policy looks at the evidence, and what error it may spend then.
-- Grain: one row for each look of each gate that infers a mean; one for a sequential gate that cannot be judged as
-- declared, which looks at nothing.
-- A gate that is not sequential looks once, at everything, and spends all. A sequential one looks at prefixes of the
-- registered order. By `obrien_fleming` the error spent up to a share s of the cases is 2 (1 - Phi(z(1 - alpha / 2) /
-- sqrt(s))) (Lan and DeMets 1983), by `even` the same at each look; a look spends the difference to the one before, and
-- since these add up to alpha the gate is wrong in at most alpha, however the looks depend on each other. An e-process
-- spends nothing: its looks only say when a campaign may stop.
-- columns:
--   campaign_id: Campaign.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   look: Number of the look, counted from 1; 0 where the gate looks once.
--   cases: Cases that have been tried by then, the first of the registered order; NULL where it looks at nothing.
--   alpha: One-sided error rate that the look may spend; NULL where a sequential gate looks at nothing.
with listed as (
    select
        inference_gates.campaign_id,
        inference_gates.gate_ix,
        inference_gates.kind,
        inference_gates.alpha,
        inference_gates.spending,
        if(inference_gates.problem is null, inference_gates.looks, null) as looks,
        inference_gates.cases as all_cases,
        unnest(
            case
                when inference_gates.kind <> 'sequential' then [0]
                when inference_gates.problem is null then range(1, len(inference_gates.looks) + 1)
                else [1]
            end
        ) as look,
    from inference_gates
),

shares as (
    select
        *,
        if(look > 0, looks[look], all_cases) as cases,
        if(look > 0, looks[look]::double / looks[-1], 1) as share,
        if(look > 1, looks[look - 1]::double / looks[-1], 0) as share_before,
    from listed
),

spent as (
    select
        campaign_id,
        gate_ix,
        look,
        cases,
        case
            when look = 0 then alpha
            when cases is null then null
            when spending = 'e_process' then alpha
            when spending = 'even' then alpha / len(looks)
            else if(share < 1, 2 * normal_tail(normal_quantile(1 - alpha / 2) / sqrt(share)), alpha)
                - if(share_before > 0, 2 * normal_tail(normal_quantile(1 - alpha / 2) / sqrt(share_before)), 0)
        end as alpha,
    from shares
)

select * from spent
