-- What somebody would pay for an item, in cents.
select
    cast(auction as bigint) as auction,
    cast(bidder as bigint) as bidder,
    cast(price as bigint) as price,
    channel,
    url,
    cast(dateTime as timestamp_ntz) as dateTime,
    extra
from {{ events('bid') }}
