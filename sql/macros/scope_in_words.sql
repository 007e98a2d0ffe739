-- A scope as a message shows it: `role = admin`, several keys with a comma between; `role = (none)` where cases lack it.
-- What names no group is shown as it stands.
create macro scope_in_words(scope) as
    coalesce(
        array_to_string(
            list_transform(
                map_entries(try_cast(try_cast(scope as json) as map(varchar, varchar))),
                lambda entry: entry.key || ' = ' || coalesce(entry.value, '(none)')
            ),
            ', '
        ),
        scope
    )
