-- Distinct samples: samples less exact duplicates, which say the same to the last byte of evidence, and are counted.
-- Grain: one row for each sample that stays, the first of its kind in the order of reading.
-- Samples of a tool that repeats without numbering are never duplicates of one another.
select
    samples.sample_ix,
    samples.system,
    mentions.identity,
    mentions.suite,
    mentions.case_key,
    samples.repeat_type,
    samples.repeat_key,
    samples.digest,
    samples.place,
from samples
inner join mentions on samples.sample_ix = mentions.sample_ix
where mentions.identity is not null
qualify samples.repeat_type = 'observed'
    or row_number() over (
        partition by samples.system, mentions.identity, samples.repeat_type, samples.repeat_key, samples.digest
        order by samples.sample_ix
    ) = 1
