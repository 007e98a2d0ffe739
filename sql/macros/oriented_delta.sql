-- Oriented delta: how much better the candidate's value is than the baseline's. Positive is better whatever the
-- metric's direction; equal values give exactly 0; NULL where either value is unknown.
create macro oriented_delta(direction, candidate_value, baseline_value) as
    direction * (candidate_value - baseline_value)
