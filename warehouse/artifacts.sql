-- Artifacts: immutable retained material, named by what it is.
-- Grain: one row for each artifact that a campaign retained. A crash can leave an artifact that no event names; it is
-- harmless. The same artifact never has two contents.
-- Exactly one of `content` and `location` stands; neither means that the material was expired or redacted.
create table artifacts (
    campaign_id varchar not null,
    artifact_id varchar not null,
    media_type varchar not null,
    schema varchar,
    size_bytes bigint not null,
    content blob,
    location varchar,
);
comment on table artifacts is 'One row for each artifact that a campaign retained.';
comment on column artifacts.campaign_id is 'Campaign that retained the artifact.';
comment on column artifacts.artifact_id is 'Digest over media type, schema and content.';
comment on column artifacts.media_type is 'Media type of the content, such as application/json.';
comment on column artifacts.schema is 'Schema of the content; NULL where it has none.';
comment on column artifacts.size_bytes is 'Size of the content in bytes.';
comment on column artifacts.content is 'The content, where it is small; NULL where it stands in a file of its own.';
comment on column artifacts.location is 'Path of the content below the warehouse, where it is large; NULL where it is inline.';
