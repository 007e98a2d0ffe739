-- Probability of evidence this far above `line`, or farther, while the true mean is not above it: the one-sided
-- p-value. `evidence` is a struct of one fill of the missing values: method, as `mean_method` gives it, mean,
-- standard_error, df, cases, gains, losses, lower (the least value a unit can have) and log_wealth (of bets against the
-- line). Without noise (`repeats` that are all equal) it is 0 or 1. A score is vetoed by McNemar's exact test where the
-- line is not below 0. The p-value of the opposite question comes from the negated evidence. NULL is unknown: no
-- p-value is ever NaN.
create macro mean_tail(evidence, line) as
    case
        when evidence.method = 'repeats' and evidence.standard_error = 0 then if(evidence.mean > line, 0e0, 1e0)
        when evidence.method in ('t', 'repeats')
            then t_tail((evidence.mean - line) / nullif(evidence.standard_error, 0), evidence.df)
        when evidence.method = 'score' then greatest(
            normal_tail(tango_score(evidence.gains, evidence.losses, evidence.cases, line)),
            if(line >= 0, sign_test_tail(evidence.gains, evidence.gains + evidence.losses), 0e0)
        )
        when evidence.method = 'constant' then constant_tail(evidence.mean, evidence.lower, evidence.cases, line)
        when evidence.method = 'bounded' then if(line < evidence.lower, 0e0, least(1, exp(-evidence.log_wealth)))
    end
