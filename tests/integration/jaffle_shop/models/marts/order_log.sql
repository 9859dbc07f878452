{{ config(materialized='incremental', incremental_strategy='append', post_hook="select count(*) from {{ this }}") }}
select order_id, status from {{ ref('orders') }}
{% if is_incremental() %}
where order_id > (select max(order_id) from {{ this }})
{% else %}
where order_id <= 4
{% endif %}
