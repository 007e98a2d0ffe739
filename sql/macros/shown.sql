-- Text as a page shows it: cut after so many characters, with its whole length stated.
create macro shown(told, most) as
    if(length(told) > most, left(told, most) || format('… ({} characters)', length(told)), told)
