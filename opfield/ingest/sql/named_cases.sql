-- Named cases: what each case is called in the campaign, and what is known of it.
-- Grain: one row for each case.
-- Where all keys belong to one suite a case has its key as its id, otherwise suite and key. Paired by input it has the
-- key that the baseline gives it; where that names two inputs, the beginning of the digest tells them apart.
with mentioned as (
    select
        mentions.identity,
        coalesce(
            min_by((mentions.suite, mentions.case_key), coalesce(mentions.sample_ix, -1))
                filter (where systems.is_baseline),
            min((mentions.suite, mentions.case_key))
        ) as name,
        min(mentions.input_digest) as input_digest,
        min(mentions.groups) as groups,
        min(mentions.cluster) as cluster,
    from mentions
    inner join systems using (system)
    where mentions.identity is not null
    group by mentions.identity
),

suites as (
    select count(distinct suite) as suites
    from mentions
),

called as (
    select
        mentioned.identity,
        if(suites.suites > 1 and mentioned.name[1] <> '', mentioned.name[1] || '/', '') || mentioned.name[2] as name,
        mentioned.input_digest,
        mentioned.groups,
        mentioned.cluster,
    from mentioned
    cross join suites
),

named as (
    select
        identity,
        if(count(*) over (partition by name) = 1, name, name || ' ' || left(sha256(identity), 12)) as case_id,
        input_digest,
        groups,
        cluster,
    from called
)

select * from named
