-- Who in Oregon, Idaho or California sells something of category 10? (join)
SELECT P.name, P.city, P.state, A.id
FROM {{ ref('auction') }} AS A
INNER JOIN {{ ref('person') }} AS P ON P.id = A.seller
WHERE A.category = 10
  AND P.state IN ('OR', 'ID', 'CA')
