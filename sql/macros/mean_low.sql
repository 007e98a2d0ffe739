-- Lower limit of a mean at the one-sided level alpha, from evidence as `mean_tail` takes it. `t_alpha` is the quantile
-- 1 - alpha of Student's t at the evidence's degrees of freedom, `bounded_low` the limit by betting: both are dear to
-- compute and serve more than one limit. The upper limit is the lower one of the negated evidence, negated. NULL where
-- the evidence sets none.
create macro mean_low(evidence, alpha, t_alpha, bounded_low) as
    case
        when evidence.method = 't' then evidence.mean - t_alpha * nullif(evidence.standard_error, 0)
        when evidence.method = 'repeats' and evidence.standard_error = 0 then evidence.mean
        when evidence.method = 'repeats' then evidence.mean - t_alpha * evidence.standard_error
        when evidence.method = 'score'
            then tango_low(evidence.gains, evidence.losses, evidence.cases, normal_quantile(1 - alpha))
        when evidence.method = 'constant' then constant_low(evidence.mean, evidence.lower, evidence.cases, alpha)
        when evidence.method = 'bounded' then bounded_low
    end
