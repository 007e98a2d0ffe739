-- A changed field of a specification as pages show it: `chunk_words = 34 (was 24)`; the values are JSON, NULL where the
-- field is not there.
create macro change_in_words(field, baseline_value, candidate_value) as
    case
        when candidate_value is null then format('{} left out (was {})', shown(field, 80), plain(baseline_value))
        when baseline_value is null then format('{} = {} (new)', shown(field, 80), plain(candidate_value))
        else format('{} = {} (was {})', shown(field, 80), plain(candidate_value), plain(baseline_value))
    end
