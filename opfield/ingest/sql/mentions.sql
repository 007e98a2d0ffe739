-- Mentions: every place at which a file names a case, with or without a result there.
-- Grain: one row for each sample and each declared case of a system.
-- `identity` is what makes two mentions one case: suite and key as they are written, or, where cases are paired by
-- input, the digest of what was asked. A mention without an input has no identity then.
select
    system,
    suite,
    case_key,
    key_type,
    input_digest,
    nullif(groups, '{}') as groups,
    cluster,
    place,
    sample_ix,
    null::integer as repeats,
    null as absence,
    if(getvariable('pair_by') = 'input', input_digest, to_json([suite, case_key])::varchar) as identity,
from samples

union all

select
    system,
    suite,
    case_key,
    key_type,
    input_digest,
    nullif(groups, '{}') as groups,
    cluster,
    place,
    null::bigint as sample_ix,
    repeats,
    absence,
    if(getvariable('pair_by') = 'input', input_digest, to_json([suite, case_key])::varchar) as identity,
from expected
