-- A count with its noun, as a message shows it: 1 cell, 2,000 cells.
create macro counted(number, noun) as
    format('{:,} {}{}', number, noun, if(number = 1, '', 's'))
