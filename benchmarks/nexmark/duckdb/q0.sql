from bid select auction, bidder, price, dateTime, extra
