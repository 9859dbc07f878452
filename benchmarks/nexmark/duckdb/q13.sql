-- A map instead of a join.
with lookup as (select map_from_entries(list((key, value))) as entries from side_input)
select auction, bidder, price, dateTime, lookup.entries[auction % 10000] as value
from bid, lookup
where map_contains(lookup.entries, auction % 10000)
