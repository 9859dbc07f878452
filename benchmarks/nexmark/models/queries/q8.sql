-- Who registered and opened an auction within the same 10 seconds? (window join of two window aggregations)
SELECT P.id, P.name, P.window_start
FROM (
    SELECT id, name, window_start, window_end
    FROM TABLE(TUMBLE(TABLE {{ ref('person') }}, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
    GROUP BY id, name, window_start, window_end
) AS P
INNER JOIN (
    SELECT seller, window_start, window_end
    FROM TABLE(TUMBLE(TABLE {{ ref('auction') }}, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
    GROUP BY seller, window_start, window_end
) AS A
    ON P.id = A.seller AND P.window_start = A.window_start AND P.window_end = A.window_end
