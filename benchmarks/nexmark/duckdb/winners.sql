-- Of the bids made while an auction was open, the highest; of those the first.
create temporary table winners as
select
    auction.*,
    arg_max(bid, (price, -epoch_ms(bid.dateTime))) as winner
from auction
join bid on auction = id
where epoch_ms(bid.dateTime) >= epoch_ms(auction.dateTime) and epoch_ms(bid.dateTime) <= epoch_ms(expires)
group by all
