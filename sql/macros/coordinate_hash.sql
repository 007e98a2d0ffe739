-- Hash of a case and repeat, 32 bits wide, so that sums of it over any number of rows are exact. Only equal within one
-- version of DuckDB: it is compared there and never kept.
create macro coordinate_hash(case_id, repeat) as
    (hash(case_id, repeat) % 4294967296)::bigint
