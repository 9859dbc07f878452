-- How many bids did somebody make before resting for 10 seconds? (SESSION in GROUP BY)
SELECT
    bidder,
    COUNT(*) AS bid_count,
    SESSION_START(`dateTime`, INTERVAL '10' SECOND) AS starttime,
    SESSION_END(`dateTime`, INTERVAL '10' SECOND) AS endtime
FROM {{ ref('bid') }}
GROUP BY bidder, SESSION(`dateTime`, INTERVAL '10' SECOND)
