-- In which direction the airports landed: the last 20 minutes, every 5 minutes.
select
    airport,
    window_start,
    window_end,
    count_if(direction = 'from the east') as from_the_east,
    count_if(direction = 'from the west') as from_the_west
from {{ hop(ref('approaches'), 'ts', '5 minutes', '20 minutes') }}
group by airport, window_start, window_end
