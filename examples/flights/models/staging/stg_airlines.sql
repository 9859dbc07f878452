{{ config(materialized='view') }}

select carrier, name as airline
from {{ csv_file('airlines') }}
