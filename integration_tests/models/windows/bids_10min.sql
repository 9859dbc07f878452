select window_start, window_end, count(*) as bids, sum(price) as total
from {{ sparkstream.tumble(ref('bids'), 'bidtime', '10 minutes') }}
group by window_start, window_end
