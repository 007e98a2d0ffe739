-- What a cell used of a resource, given the row as a struct; NULL where nobody saw it, or there is no such resource.
create macro resource_of(cell, resource) as
    case resource
        when 'duration_s' then cell.duration_s
        when 'cost_usd' then cell.cost_usd
        when 'input_tokens' then cell.input_tokens::double
        when 'output_tokens' then cell.output_tokens::double
        when 'tokens' then cell.input_tokens::double + cell.output_tokens::double
    end
