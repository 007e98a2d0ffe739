-- Described: what the candidate is that is asked for.
-- Grain: one row; none while it is not registered.
select
    shown(hypothesis, 600) as hypothesis,
    shown(optic, 200) as optic,
    shown(value, 1000) as value,
    spec_digest,
    is_baseline,
from candidates
where candidate_id = getvariable('asked_candidate')
limit 1
