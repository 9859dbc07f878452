select *
from (select sum(amount) as here from {{ ref('orders') }})
cross join (select sum(amount) as there from {{ ref('stg_payments') }})
where here <> there
