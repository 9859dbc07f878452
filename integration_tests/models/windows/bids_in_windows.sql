{# A window without an aggregation, over a query in parentheses, beside a CTE. #}
with expensive as (
    select * from {{ ref('bids') }} where price >= 3
)

select w.id, w.bidder, w.window_start, w.window_time, e.n
from {{ sparkstream.tumble('(select id, bidder, bidtime from expensive)', 'bidtime', '10 minutes') }} as w
cross join (select count(*) as n from expensive) as e
