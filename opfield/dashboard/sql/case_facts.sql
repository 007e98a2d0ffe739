-- Case facts: what the case is that is asked for.
-- Grain: one row; none where no such case is declared.
select
    case_id,
    case_ix,
    shown(partition, 40) as partition,
    shown(cluster_id, 120) as cluster_id,
    shown(
        array_to_string(
            [format('{} = {}', each.key, each.value) for each in map_entries(groups) if each.key <> ''], ', '
        ),
        400
    ) as groups,
    shown(input, 6000) as input,
from cases
where case_id = getvariable('asked_case')
limit 1
