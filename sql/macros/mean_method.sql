-- How a mean over units is inferred, from what was declared and never from how the values look, but for one case:
-- values without any spread tell nothing about their spread.
-- `repeats`: the cases are the population, and the noise of their repeats is all there is. `bounded`: betting over the
-- declared range, where a gate asks for it. `score`: Tango's score for a binary metric tried once a case. `constant`:
-- every case gave one value. `t`: Student's t over cases, or over clusters of them. NULL without a case.
create macro mean_method(infers_to, asked, is_score, cases, spread) as
    case
        when cases > 0 and infers_to = 'these_cases' then 'repeats'
        when cases > 0 and asked = 'bounded' then 'bounded'
        when cases > 0 and is_score then 'score'
        when cases > 0 and is_constant(spread) then 'constant'
        when cases > 0 then 't'
    end
