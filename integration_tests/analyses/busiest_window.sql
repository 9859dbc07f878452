select window_start, count(*) as bids
from << hop({{ ref('bids') }}, bidtime, '1 minute', '10 minutes') >>
group by window_start, window_end
order by bids desc, window_start
limit 1
