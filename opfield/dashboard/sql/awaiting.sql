-- Awaiting: campaigns that only people can decide now.
-- Grain: one row for each campaign whose last event compares or reviews, where the policy has a gate at which people
-- review.
-- A campaign records its comparisons once everything is measured, and ends right behind them unless a review is lacking.
-- That can be told of many campaigns at once; the relation `awaiting_reviews` asks every gate of each.
with unended as (
    select campaign_id
    from campaigns
    where state = 'running'
),

latest as (
    select
        campaign_id,
        arg_max(type, sequence) as type,
    from events
    semi join unended using (campaign_id)
    group by campaign_id
)

select campaign_id
from latest
semi join (select campaign_id from policy_gates where kind = 'review') using (campaign_id)
where type in ('comparison.recorded', 'review.recorded')
