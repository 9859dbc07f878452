-- The winners of a seller as a list in the order they close, and of that list the last ten up to each of them.
with sold as (
    select seller, list(struct_pack(id, expires, price := winner.price) order by expires, id) as sales
    from winners
    group by seller
),
each as (
    select seller, sales[n] as sale, list_transform(sales[greatest(1, n - 9):n], lambda s: s.price) as prices
    from sold, range(1, len(sales) + 1) as places(n)
)
select seller, sale.id as id, sale.expires as expires, cast(list_sum(prices) // len(prices) as bigint) as average
from each
