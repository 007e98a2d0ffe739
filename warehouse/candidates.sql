-- Candidates: the baseline and every intervention that a campaign registered.
-- Grain: one row for the baseline and one for each candidate of a campaign.
-- The baseline has no intervention: its optic, value and hypothesis are NULL, its lists empty.
create table candidates (
    campaign_id varchar not null,
    candidate_id varchar not null,
    label varchar not null,
    is_baseline boolean not null,
    optic varchar,
    value varchar,
    classes varchar[] not null,
    targets varchar[] not null,
    closure varchar[] not null,
    hypothesis varchar,
    spec varchar not null,
    spec_digest varchar not null,
);
comment on table candidates is 'One row for the baseline and one for each candidate of a campaign.';
comment on column candidates.campaign_id is 'Campaign that registered the candidate.';
comment on column candidates.candidate_id is 'Identity over baseline, resulting specification and patch.';
comment on column candidates.label is 'Short name for people: the patch''s id, or baseline.';
comment on column candidates.is_baseline is 'Whether this is the baseline.';
comment on column candidates.optic is 'Optic that the patch writes through; NULL for the baseline.';
comment on column candidates.value is 'Canonical JSON of the value that the patch writes; NULL for the baseline.';
comment on column candidates.classes is 'Semantic classes of the intervention.';
comment on column candidates.targets is 'Dependency nodes that the patch changes directly.';
comment on column candidates.closure is 'Dependency nodes that the patch invalidates, as declared.';
comment on column candidates.hypothesis is 'Why the change might help, in words.';
comment on column candidates.spec is 'Canonical JSON of the resulting specification.';
comment on column candidates.spec_digest is 'Digest of the resulting specification''s envelope.';

-- Projection: reads `segment`, the events of one segment, and `segment_artifacts`, the artifacts they name.
insert into candidates by name
with registered as (
    select
        campaign_id,
        sequence,
        json_extract_string(payload, '$.baseline_id') as candidate_id,
        json_extract_string(payload, '$.baseline_artifact') as artifact_id,
    from segment
    where type = 'campaign.started'

    union all

    select
        campaign_id,
        sequence,
        json_extract_string(payload, '$.candidate_id') as candidate_id,
        json_extract_string(payload, '$.artifact_id') as artifact_id,
    from segment
    where type = 'candidate.registered'
),

material as (
    select
        registered.campaign_id,
        registered.candidate_id,
        registered.sequence,
        json_extract(decode(segment_artifacts.content), '$.patch') as patch,
        json_extract(decode(segment_artifacts.content), '$.spec') as spec,
    from registered
    inner join segment_artifacts using (artifact_id)
)
select
    campaign_id,
    candidate_id,
    coalesce(json_extract_string(patch, '$.id'), 'baseline') as label,
    json_type(patch) = 'NULL' as is_baseline,
    json_extract_string(patch, '$.optic') as optic,
    json_extract(patch, '$.value.payload')::varchar as value,
    coalesce(from_json(json_extract(patch, '$.classes'), '["VARCHAR"]'), []) as classes,
    coalesce(from_json(json_extract(patch, '$.targets'), '["VARCHAR"]'), []) as targets,
    coalesce(from_json(json_extract(patch, '$.closure'), '["VARCHAR"]'), []) as closure,
    json_extract_string(patch, '$.hypothesis') as hypothesis,
    json_extract(spec, '$.payload')::varchar as spec,
    json_extract_string(spec, '$.digest') as spec_digest,
from material
order by sequence;
