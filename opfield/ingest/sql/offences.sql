-- Offences: what stands in the way of exact coordinates. Nothing is recorded while there is a row here.
-- Grain: one row for each thing that is wrong, with both places where two contradict each other.
with keys_alike as (
    select
        format('case {} is a number in one place and text in another', case_key) as reason,
        min(place) filter (where key_type = 'number') as place,
        min(place) filter (where key_type = 'text') as other_place,
        'write it alike in both, or leave one of the files out' as remedy,
    from mentions
    where getvariable('pair_by') = 'key'
    group by suite, case_key
    having count(distinct key_type) > 1
),

inputs_apart as (
    select
        format('case {} asks one thing in one place and another in the other', case_key) as reason,
        min_by(place, input_digest) as place,
        max_by(place, input_digest) as other_place,
        'keys that are positions do that: pair by what was asked with --pair-by input' as remedy,
    from mentions
    where getvariable('pair_by') = 'key' and input_digest is not null
    group by suite, case_key
    having count(distinct input_digest) > 1
),

inputs_lacking as (
    select
        format('{} of {} mentions of cases do not say what was asked', count(*) - count(identity), count(*)) as reason,
        min(place) filter (where identity is null) as place,
        null as other_place,
        'pair by key with --pair-by key' as remedy,
    from mentions
    group by system
    having count(*) > count(identity)
),

inputs_alike as (
    select
        format('cases {} and {} ask the same, so that an input does not tell them apart', min(case_key), max(case_key))
            as reason,
        min_by(place, case_key) as place,
        max_by(place, case_key) as other_place,
        'pair by key with --pair-by key, or take one of them out' as remedy,
    from mentions
    where getvariable('pair_by') = 'input' and identity is not null
    group by system, identity
    having count(distinct (suite, case_key)) > 1
),

conflicts as (
    select
        format(
            'case {}{} has two results that differ',
            min(named_cases.case_id),
            coalesce(' repeat ' || min(distinct_samples.repeat_key), '')
        ) as reason,
        min_by(distinct_samples.place, distinct_samples.sample_ix) as place,
        max_by(distinct_samples.place, distinct_samples.sample_ix) as other_place,
        'say which column or option tells repeats apart, or take one of them out' as remedy,
    from distinct_samples
    inner join named_cases using (identity)
    where distinct_samples.repeat_type <> 'observed'
    group by distinct_samples.system, distinct_samples.identity, distinct_samples.repeat_type, distinct_samples.repeat_key
    having count(*) > 1 and count(distinct (distinct_samples.suite, distinct_samples.case_key)) = 1
),

repeats_alike as (
    select
        format('repeat {} is a number in one place and text in another', repeat_key) as reason,
        min(place) filter (where repeat_type = 'number') as place,
        min(place) filter (where repeat_type = 'text') as other_place,
        'write it alike in both' as remedy,
    from distinct_samples
    where repeat_key is not null
    group by identity, repeat_key, if(getvariable('coupling') = 'none', system, '')
    having count(distinct repeat_type) > 1
),

repeats_unnumbered as (
    select
        'repeats without numbers cannot be those of another system' as reason,
        min(place) as place,
        null as other_place,
        'say --coupling none' as remedy,
    from distinct_samples
    where getvariable('coupling') <> 'none' and repeat_type = 'observed'
    having count(*) > 0
),

ids_refused as (
    select
        format(
            'case id {}… {}',
            left(named_cases.case_id, 40),
            if(octet_length(encode(named_cases.case_id)) > 1024, 'is longer than 1,024 bytes', 'is empty, or holds NUL')
        ) as reason,
        min(mentions.place) as place,
        null as other_place,
        'shorten the key, or the suite that stands before it; or name another column or member as the key' as remedy,
    from named_cases
    inner join mentions using (identity)
    where octet_length(encode(named_cases.case_id)) not between 1 and 1024 or contains(named_cases.case_id, chr(0))
    group by named_cases.case_id
),

groups_apart as (
    select
        format('case {} is in other groups, or another cluster, in one place than in another', min(case_key)) as reason,
        min_by(place, (groups, cluster)) as place,
        max_by(place, (groups, cluster)) as other_place,
        'groups and clusters belong to the case, not to a run: name another column for them' as remedy,
    from mentions
    where identity is not null
    group by identity
    having count(distinct groups) > 1 or count(distinct cluster) > 1
),

runs_alike as (
    select
        format('two runs call themselves {}', run) as reason,
        min_by(place, position) as place,
        max_by(place, position) as other_place,
        'they are one run, or one was copied and altered: name one of them' as remedy,
    from systems
    where run is not null
    group by run
    having count(*) > 1
),

empty_systems as (
    select
        format('system {} has no case', label) as reason,
        place,
        null as other_place,
        'leave it out' as remedy,
    from systems
    where system not in (select system from mentions)
),

offences as (
    select * from keys_alike
    union all
    select * from inputs_apart
    union all
    select * from inputs_lacking where getvariable('pair_by') = 'input'
    union all
    select * from inputs_alike
    union all
    select * from conflicts
    union all
    select * from repeats_alike
    union all
    select * from repeats_unnumbered
    union all
    select * from ids_refused
    union all
    select * from groups_apart
    union all
    select * from runs_alike
    union all
    select * from empty_systems
)

select * from offences
