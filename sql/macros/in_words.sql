-- A number as a message shows it: six significant digits; `unknown` where it is NULL.
create macro in_words(number) as
    coalesce(format('{:.6g}', number::double), 'unknown')
