-- Score statistic for a difference of paired proportions, (gains - losses) / n, against the difference `line`, by Tango
-- (1998): above its expectation by so many standard errors, the loss rate being fitted to the line. Approximately
-- normal where the line holds. `tango_low` is the line at which it equals z. Infinite where the fitted variance is 0
-- and the difference is not the line; NULL for NULL, n below 1 and a line outside [-1, 1].
create macro tango_score(gains, losses, n, line) as
    list_transform(
        [
            case when n::double >= 1 and line::double between -1 and 1
                then {
                    'b': (2 * n::double - gains::double + losses::double) * line::double
                    - gains::double - losses::double,
                    'c': -losses::double * line::double * (1 - line::double),
                }
            end,
        ],
        lambda fit: list_transform(
            [
                {
                    'distance': gains::double - losses::double - n::double * line::double,
                    'variance': n::double * (
                        2 * (sqrt(greatest(fit.b * fit.b - 8 * n::double * fit.c, 0)) - fit.b) / (4 * n::double)
                        + line::double * (1 - line::double)
                    ),
                },
            ],
            lambda score: case
                when score.variance > 0 then score.distance / sqrt(score.variance)
                when score.distance = 0 then 0e0
                else sign(score.distance) * 'infinity'::double
            end
        )[1]
    )[1]
