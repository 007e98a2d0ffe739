-- Verdict of a gate that infers a mean: it passes where the mean being not above the line is refuted at the error rate
-- alpha, fails where its being not below the line is, and is otherwise indeterminate; an unknown p-value refutes nothing.
create macro verdict_of(p_above, p_below, alpha) as
    case
        when p_above <= alpha then 'pass'
        when p_below <= alpha then 'fail'
        else 'indeterminate'
    end
