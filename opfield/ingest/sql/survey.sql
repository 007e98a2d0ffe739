-- Survey: what one file holds, before anything is made of it.
-- Grain: one row.
with mentioned as (
    select system, suite, case_key from samples
    union
    select system, suite, case_key from expected
),

held as (
    select
        system,
        suite,
        case_key,
        count(*) as samples,
    from samples
    group by system, suite, case_key
),

promised as (
    select
        system,
        suite,
        case_key,
        max(repeats) as repeats,
    from expected
    group by system, suite, case_key
),

failed as (
    select
        coalesce(json_extract_string(decode(body)::json, '$.failure.code'), 'failed') as code,
        count(*) as samples,
    from samples
    where json_extract_string(decode(body)::json, '$.status') <> 'success'
    group by code
    order by code
)

select
    (select count(*) from samples) as samples,
    (select count(distinct (suite, case_key)) from mentioned) as cases,
    (select coalesce(max(samples), 0) from held) as repeats,
    (
        select coalesce(sum(greatest(promised.repeats - coalesce(held.samples, 0), 0)), 0)::bigint
        from promised
        left join held using (system, suite, case_key)
    ) as missing,
    (select map_from_entries(list((code, samples))) from failed) as failures
