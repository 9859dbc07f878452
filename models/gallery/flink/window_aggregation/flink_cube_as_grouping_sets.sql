SELECT window_start, window_end, item, supplier_id, SUM(price) AS total_price
  FROM {{ tumble(ref('flink_bid'), 'bidtime', '10 minutes') }}
  GROUP BY window_start, window_end, GROUPING SETS (
      (supplier_id, item),
      (supplier_id      ),
      (             item),
      (                 )
)
