-- Option number: a gate's option as a finite number; NULL where it is not given, and where it is something else.
create macro option_number(options, member) as
    case
        when isfinite(try_cast(json_extract_string(options, member) as double))
            then try_cast(json_extract_string(options, member) as double)
    end
