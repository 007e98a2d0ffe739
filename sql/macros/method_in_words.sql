-- The name of a method of inference as a message shows it.
create macro method_in_words(method) as
    case method
        when 't' then 'Student''s t'
        when 'score' then 'Tango''s score'
        when 'constant' then 'one value throughout'
        when 'repeats' then 'noise of repeats'
        when 'bounded' then 'betting within the range'
    end
