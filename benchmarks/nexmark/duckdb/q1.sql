-- 908 thousandths, so that only whole numbers are multiplied
from bid select auction, bidder, cast(price * 908 as decimal(38, 3)) * 0.001 as price, dateTime, extra
