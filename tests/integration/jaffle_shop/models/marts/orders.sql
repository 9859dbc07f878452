{{ config(partition_by='status') }}
select o.order_id, o.customer_id, o.order_date, t.amount, o.status
from {{ ref('stg_orders') }} as o
left join {{ ref('order_totals') }} as t using (order_id)
