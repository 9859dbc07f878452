{{ config(materialized='table') }}
select * from {{ ref('timed_windows') }}
