{{ config(materialized='view') }}

select
    tailnum,
    manufacturer,
    model,
    int(year) as built_in,
    int(seats) as seats
from {{ csv_file('planes') }}
