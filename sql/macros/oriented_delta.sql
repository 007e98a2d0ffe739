-- Oriented delta: how much better the candidate's value is than the baseline's. Positive is better whatever the
-- metric's direction; equal values give exactly 0, never -0; NULL where either value is unknown.
create macro oriented_delta(direction, candidate_value, baseline_value) as
    if(direction > 0, candidate_value - baseline_value, baseline_value - candidate_value)
