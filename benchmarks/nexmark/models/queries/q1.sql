-- What is every bid in euros? (arithmetic of BIGINT and DECIMAL)
SELECT auction, bidder, 0.908 * price AS price, `dateTime`, extra
FROM {{ ref('bid') }}
