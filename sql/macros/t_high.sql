-- Upper limit of a mean by Student's t: `t_low` turned round.
create macro t_high(mean, se, df, alpha) as
    -t_low(-(mean::double), se, df, alpha)
