{{ config(materialized='streaming_incremental', watermark='5 minutes', late_rows='keep') }}

-- One row for each ten minutes and item, appended when no more bids are expected for these ten minutes.
select window_start, window_end, item, count(*) as bids, max(price) as best_price
from {{ tumble(stream(source('auction', 'bids')), 'bidtime', '10 minutes') }}
group by window_start, window_end, item
