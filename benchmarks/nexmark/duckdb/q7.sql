from bid
select auction, bidder, price, dateTime, extra
qualify price = max(price) over (partition by epoch_ms(dateTime) // 10000)
