-- A JSON value as a page shows it: a text without its quotation marks, unless it is empty; cut where it is long.
create macro plain(json_value) as
    shown(coalesce(nullif(json_extract_string(json_value, '$'), ''), json_value), 80)
