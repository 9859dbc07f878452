from bid select auction, price where auction in (select 123 * n from range(1000) as numbers(n))
