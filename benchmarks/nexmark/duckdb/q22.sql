from bid
select auction, bidder, price, channel,
    regexp_extract(url, '^https://[^/]*/([^/]*)/', 1) as dir1,
    regexp_extract(url, '^https://[^/]*/[^/]*/([^/]*)/', 1) as dir2,
    regexp_extract(url, '^https://[^/]*/[^/]*/[^/]*/([^/]*)/', 1) as dir3
