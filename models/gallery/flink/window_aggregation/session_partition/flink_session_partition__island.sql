SELECT window_start, window_end, supplier_id, SUM(price) AS total_price
FROM << session({{ ref('flink_bid') }} partition by (supplier_id), bidtime, '2 minutes') >>
GROUP BY window_start, window_end, supplier_id
