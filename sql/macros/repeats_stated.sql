-- Repeats declared for an arm at a case: what the case states for a candidate id, else what the campaign declares for
-- all. At least one: a case that an arm never ran is missing there, not undeclared.
create macro repeats_stated(stated, candidate_id, repeats) as
    greatest(coalesce(stated[candidate_id], repeats), 1)::integer
