from bid
where not exists (
    from bid as later
    where later.auction = bid.auction and later.bidder = bid.bidder and later.dateTime > bid.dateTime
)
