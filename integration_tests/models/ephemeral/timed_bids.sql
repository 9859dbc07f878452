{{ config(materialized='ephemeral') }}
select id, bidtime, price from {{ ref('bids') }} where bidtime is not null
