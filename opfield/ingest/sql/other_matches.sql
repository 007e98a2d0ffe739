-- Other matches: how many cases would pair if they were known by something else than by their keys as written.
-- Grain: one row for each system but the baseline and way of writing keys that pairs more cases than the keys do.
-- A way is offered only where it tells the cases of each system apart.
with written as (
    select distinct
        system,
        suite,
        case_key,
        input_digest,
    from mentions
),

ways as (
    select
        system,
        to_json([suite, case_key])::varchar as own,
        unnest([
            {'way': 'the input that was asked (--pair-by input)', 'key': input_digest},
            {'way': 'the key without the suite', 'key': case_key},
            {'way': 'the key without space around it and with line ends as \n', 'key': suite || '/' || trim(replace(case_key, e'\r\n', e'\n'), e' \t\r\n')},
            {'way': 'the key in lower case', 'key': suite || '/' || lower(case_key)},
            {'way': 'the last part of the key, after / or \', 'key': regexp_extract(case_key, '[^/\\]*$')},
            {'way': 'the key without leading zeros', 'key': suite || '/' || ltrim(case_key, '0')},
            {'way': 'the number at the end of the key', 'key': nullif(regexp_extract(case_key, '[0-9]+$'), '')},
        ], recursive := true),
    from written
),

counted as (
    select
        system,
        way,
        count(distinct own) = count(distinct key) and count(key) = count(*) as tells_apart,
    from ways
    group by system, way
),

usable as (
    select
        ways.system,
        ways.way,
        ways.key,
        systems.is_baseline,
    from ways
    inner join counted using (system, way)
    inner join systems using (system)
    where counted.tells_apart
),

paired as (
    select
        here.system,
        here.way,
        count(distinct here.key) as shared,
    from usable as here
    inner join usable as there on here.way = there.way and here.key = there.key and there.is_baseline
    where not here.is_baseline
    group by here.system, here.way
)

select
    paired.system,
    paired.way,
    paired.shared,
from paired
inner join matches using (system)
where paired.shared > matches.shared
