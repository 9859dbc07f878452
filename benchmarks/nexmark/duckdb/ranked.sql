-- Every bid with its day, its minute and its rank by price.
create temporary table ranked as
select
    *,
    cast(cast(dateTime as date) as varchar) as day,
    left(cast(cast(dateTime as time) as varchar), 5) as minute,
    1 + (price >= 10000)::int + (price >= 1000000)::int as rank
from bid
