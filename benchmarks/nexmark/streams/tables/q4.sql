SELECT category, AVG(final) AS average
FROM (
    SELECT id, category, MAX(price) AS final
    FROM {{ ref('offers') }}
    GROUP BY id, category
) AS sold
GROUP BY category
