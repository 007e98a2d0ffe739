-- Grid: how many repeats each system is to have of each case.
-- Grain: one row for each system and case, whether or not the system has a sample of it.
-- A file that declares its trials decides, unless it holds more. Where none does, what is there counts, and at least
-- one: a case that another system has and this one lacks is a case that it is missing. Where both arms share the
-- randomness of a repeat, all systems have the repeats that any of them has.
-- columns: repeats; found, samples that stay; is_declared, whether a file said so; absence, why a sample may be missing.
with declared as (
    select
        system,
        identity,
        max(repeats) as repeats,
        max(absence) as absence,
    from mentions
    where sample_ix is null and identity is not null
    group by system, identity
),

found as (
    select
        system,
        identity,
        count(*) as samples,
    from distinct_samples
    group by system, identity
),

shared_keys as (
    select
        identity,
        count(distinct (repeat_type, repeat_key)) as keys,
    from distinct_samples
    group by identity
),

squares as (
    select
        systems.system,
        named_cases.identity,
        named_cases.case_id,
        coalesce(found.samples, 0) as found,
        declared.repeats is not null as is_declared,
        coalesce(declared.absence, 'missing') as absence,
        greatest(
            1,
            coalesce(declared.repeats, 0),
            coalesce(found.samples, 0),
            if(getvariable('coupling') = 'none', 0, coalesce(shared_keys.keys, 0))
        ) as own_repeats,
    from systems
    cross join named_cases
    left join declared using (system, identity)
    left join found using (system, identity)
    left join shared_keys using (identity)
),

levelled as (
    select
        * exclude (own_repeats),
        if(
            getvariable('coupling') = 'none',
            own_repeats,
            max(own_repeats) over (partition by identity)
        )::integer as repeats,
    from squares
)

select * from levelled
