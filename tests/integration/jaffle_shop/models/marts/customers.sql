-- A customer's orders, the last of them, and a hint with words that mean nothing here: tumble, hop << 1 >> 1.
with ranked as (
    select
        *,
        row_number() over (partition by customer_id order by order_date desc, order_id desc) as newest,
        window(cast(order_date as timestamp), '7 days') as week
    from {{ ref('orders') }}
)

select /*+ BROADCAST(c) */
    c.customer_id,
    c.first_name,
    count(r.order_id) as orders,
    sum(r.amount) as amount,
    max(if(r.newest = 1, r.status, null)) as last_status,
    min(r.week.start) as first_week,
    c.customer_id << 2 >> 1 as twice
from {{ ref('stg_customers') }} as c
left join ranked as r on r.customer_id = c.customer_id
group by c.customer_id, c.first_name
