-- A scope as a message shows it: `role = admin`, several keys with a comma between; `role = (none)` where cases lack it.
create macro scope_in_words(scope) as
    array_to_string(
        list_transform(
            map_entries(try_cast(try_cast(scope as json) as map(varchar, varchar))),
            lambda entry: entry.key || ' = ' || coalesce(entry.value, '(none)')
        ),
        ', '
    )
