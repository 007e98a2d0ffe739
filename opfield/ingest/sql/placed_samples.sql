-- Placed samples: the coordinate that each sample takes.
-- Grain: one row for each sample that stays.
-- Repeats count from 0 in the order of what the file calls them, numbers first; unnumbered ones in the order in which
-- they stand. Independent rounds are counted for each system; repeats that share their randomness over all systems, so
-- that equal names stand at equal repeats.
with ranked as (
    select
        distinct_samples.sample_ix,
        distinct_samples.system,
        distinct_samples.identity,
        dense_rank() over (
            partition by
                distinct_samples.identity,
                if(getvariable('coupling') = 'none', distinct_samples.system, '')
            order by
                distinct_samples.repeat_type,
                try_cast(distinct_samples.repeat_key as hugeint) nulls last,
                distinct_samples.repeat_key nulls first,
                if(distinct_samples.repeat_type = 'observed', distinct_samples.sample_ix, null)
        ) - 1 as repeat,
    from distinct_samples
)

select
    ranked.sample_ix,
    ranked.system,
    named_cases.case_id,
    ranked.repeat::integer as repeat,
from ranked
inner join named_cases using (identity)
