-- Note: The window start and window end fields of inner Window TVF are optional in the select clause. However, if they appear in the clause, they need to be aliased to prevent name conflicting with the window start and window end of the outer Window TVF.
SELECT window_start AS window_5mintumble_start, window_end AS window_5mintumble_end, window_time AS rowtime, SUM(price) AS partial_price
  FROM {{ tumble(ref('flink_bid'), 'bidtime', '5 minutes') }}
  GROUP BY supplier_id, window_start, window_end, window_time
