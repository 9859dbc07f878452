-- Items that somebody sells. An auction is open from dateTime to expires.
select
    cast(id as bigint) as id,
    itemName,
    description,
    cast(initialBid as bigint) as initialBid,
    cast(reserve as bigint) as reserve,
    cast(dateTime as timestamp_ntz) as dateTime,
    cast(expires as timestamp_ntz) as expires,
    cast(seller as bigint) as seller,
    cast(category as bigint) as category,
    extra
from {{ events('auction') }}
