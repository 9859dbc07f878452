from bid
select auction, bidder, price, dateTime, extra, cast(cast(dateTime as date) as varchar) as dt,
    left(cast(cast(dateTime as time) as varchar), 5) as hm
