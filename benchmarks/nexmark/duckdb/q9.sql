from winners
select * exclude winner, winner.auction, winner.bidder, winner.price, winner.dateTime as bid_dateTime,
    winner.extra as bid_extra
