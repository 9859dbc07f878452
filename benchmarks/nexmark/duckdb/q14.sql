select
    auction,
    bidder,
    cast(price * 908 as decimal(38, 3)) * 0.001 as price,
    ['nightTime', 'otherTime', 'dayTime'][
        case when hour(dateTime) in (7, 19) then 2 when hour(dateTime) between 7 and 19 then 3 else 1 end
    ] as bidTimeType,
    dateTime,
    extra,
    len(list_filter(string_split(extra, ''), lambda letter: letter = 'c')) as c_counts
from bid
where bid.price * 908 between 1000000001 and 49999999999
