select auction, bidder, (price * 908)::decimal(30, 3) / 1000 as price, dateTime, extra from bid
