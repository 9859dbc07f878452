-- Which bids are for every 123rd auction? (filter)
SELECT auction, price
FROM {{ ref('bid') }}
WHERE MOD(auction, 123) = 0
