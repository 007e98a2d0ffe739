-- Mean of an arm at the place of a pair when what is missing there takes a fill: `found` values of mean `value` out of
-- `declared`. Exactly the value where nothing is missing, the fill where everything is; NULL where a fill that is needed
-- is unknown.
create macro filled_mean(value, found, declared, fill) as
    case
        when found >= declared then value
        when found > 0 then (value * found + fill * (declared - found)) / declared
        else fill
    end
