-- Gate kind review: did people approve of the candidate, knowing its comparison?
-- Grain: one row for each candidate and gate of this kind.
-- Options: `approvals`, how many different reviewers must approve (1 unless given); `keys`, a list of Ed25519 public
-- keys as 64 hex digits each: where it is given, only reviews signed by one of them count, and a reviewer is a key. The
-- latest counted review of each reviewer stands; one rejection fails. While approvals are lacking the verdict is open,
-- and the campaign waits.
-- takes: approvals, keys
-- columns:
--   campaign_id: Campaign that was judged.
--   candidate_id: Candidate that was judged.
--   gate_ix: Position of the gate in the policy, counted from 0.
--   scope: Empty, since a review is of the whole comparison.
--   status: pass, fail or indeterminate.
--   message: The value, the bound and the reason, in words.
--   value: Reviewers whose standing review approves.
--   threshold: Approvals asked for; NULL where the options are not understood.
select
    campaign_id,
    candidate_id,
    gate_ix,
    '' as scope,
    case
        when not is_understood then 'indeterminate'
        when rejections > 0 then 'fail'
        when approvals >= needed then 'pass'
        else 'indeterminate'
    end as status,
    case
        when not is_understood
            then 'an option is not understood: approvals is a whole number from 1 to the number of keys, if there are '
                || 'any; keys is a list of public keys of 64 lower-case hex digits'
        when rejections > 0 then format('rejected by {}', rejected_by)
            || if(rejections > 1, format(' and {} more', rejections - 1), '')
        when approvals >= needed then format('approvals: {} of {}', approvals, needed)
        else format('awaiting review: {} of {} approvals', approvals, needed)
    end as message,
    approvals::double as value,
    needed::double as threshold,
from review_standings
