-- What was everybody's last bid on each auction? (deduplication that keeps the last row)
SELECT auction, bidder, price, channel, url, `dateTime`, extra
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY `dateTime` DESC) AS place
    FROM {{ ref('bid') }}
) AS placed
WHERE place = 1
