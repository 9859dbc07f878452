-- Every bid as it came: what reading and writing cost.
SELECT auction, bidder, price, `dateTime`, extra
FROM {{ ref('bid') }}
