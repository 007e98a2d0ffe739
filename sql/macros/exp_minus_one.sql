-- exp(x) - 1 without losing the digits of a small x, restored as in `log_one_plus`. For x from -700 to 700.
-- NULL for NULL.
create macro exp_minus_one(x) as
    if(exp(x) = 1, x, (exp(x) - 1) * (x / ln(exp(x))))
