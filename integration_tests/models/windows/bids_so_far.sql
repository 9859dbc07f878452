{% call sparkstream.window_sql(dialect='flink') %}
SELECT window_start, window_end, COUNT(*) AS bids, SUM(price) AS total
FROM CUMULATE(TABLE {{ source('auction', 'incoming_bids') }}, DESCRIPTOR(bidtime), INTERVAL '12' HOURS, INTERVAL '1' DAY)
GROUP BY window_start, window_end
{% endcall %}
