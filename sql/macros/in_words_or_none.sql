-- A number as a message shows it: six significant digits; NULL for NULL.
create macro in_words_or_none(number) as
    if(number is null, null, format('{:.6g}', number::double))
