-- The bounded table that query 13 looks values up in.
select
    cast(key as bigint) as key,
    value
from {{ events('side_input') }}
