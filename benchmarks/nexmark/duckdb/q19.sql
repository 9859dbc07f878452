-- Lists of bids, highest first, and their first ten.
with sorted as (
    select list(bid order by price desc, dateTime)[1:10] as bids from bid group by auction
),
numbered as (
    select unnest(bids) as b, generate_subscripts(bids, 1) as rank_number from sorted
)
select unnest(b), rank_number from numbered
