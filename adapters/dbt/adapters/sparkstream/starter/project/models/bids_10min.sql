select window_start, window_end, sum(price) as total_price
from {{ tumble(ref('bid'), 'bidtime', '10 minutes') }}
group by window_start, window_end
