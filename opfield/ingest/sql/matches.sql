-- Matches: how many cases each system shares with the baseline.
-- Grain: one row for each system but the baseline.
with held as (
    select distinct system, identity
    from mentions
    where identity is not null
),

baseline_held as (
    select held.identity
    from held
    inner join systems using (system)
    where systems.is_baseline
),

counted as (
    select
        systems.system,
        systems.label,
        count(held.identity) filter (where baseline_held.identity is not null) as shared,
        count(held.identity) filter (where baseline_held.identity is null) as only_here,
        (select count(*) from baseline_held) as of_baseline,
    from systems
    left join held using (system)
    left join baseline_held using (identity)
    where not systems.is_baseline
    group by systems.system, systems.label
)

select * from counted
