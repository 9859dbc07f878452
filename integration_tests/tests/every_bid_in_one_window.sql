select id, count(*) as windows
from {{ sparkstream.tumble(ref('bids'), 'bidtime', '10 minutes') }}
group by id
having count(*) <> 1
