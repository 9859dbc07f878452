select id, count(*) as windows
from {{ tumble(ref('bids'), 'bidtime', '10 minutes') }}
group by id
having count(*) <> 1
