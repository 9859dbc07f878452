-- Queries 4, 6 and 9 tell of the same winning bids.
with winners as (

    select category, seller, price from {{ ref('q9') }}

),

averages as (

    select category, cast(sum(price) div count(*) as bigint) as average from winners group by category

)

select 'q4' as query, category as key
from averages full join {{ ref('q4') }} as q4 using (category)
where averages.average is distinct from q4.average

union all

select 'q6', seller
from (select seller, count(*) as sold from winners group by seller) as sellers
full join (select seller, count(*) as averages from {{ ref('q6') }} group by seller) as q6 using (seller)
where sold is distinct from averages
