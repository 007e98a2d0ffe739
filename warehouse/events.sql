-- The ledger: the only authority of a warehouse. Everything else can be rebuilt from it and from the artifacts.
-- Grain: one row for each accepted event of a campaign.
-- A gap in `sequence`, a second row at a sequence, or a digest that does not follow from its predecessor means that
-- the history was damaged or written by two hands: `opfield audit` names the place.
create table events (
    campaign_id varchar not null,
    sequence bigint not null,
    type varchar not null,
    schema_version integer not null,
    recorded_at timestamp not null,
    fence bigint not null,
    payload varchar not null,
    digest varchar not null,
);
comment on table events is 'One row for each accepted event of a campaign; the only authority of a warehouse.';
comment on column events.campaign_id is 'Identity of the campaign: sha256:<hex> over everything that gives its evidence a meaning.';
comment on column events.sequence is 'Position in the campaign''s history: 1, 2, 3 and on, without gaps.';
comment on column events.type is 'campaign.started, candidate.registered, trial.completed, plan.closed, evidence.recorded, comparison.recorded, review.recorded, decision.recorded, campaign.completed or campaign.cancelled.';
comment on column events.schema_version is 'Version of the payload''s schema for this type.';
comment on column events.recorded_at is 'UTC time at which the writer appended the event; informative, since order is by sequence alone.';
comment on column events.fence is 'Claim under which the writer wrote; an event with an older fence than one already seen is refused.';
comment on column events.payload is 'Canonical JSON (RFC 8785): coordinates, numbers, statuses and digests.';
comment on column events.digest is 'sha256:<hex> over the previous event''s digest and this event; the last one of a completed campaign is its root.';
