-- All bids, a folder of files for each minute. (partitions, DATE_FORMAT)
{{ config(file_format='parquet', partition_by=['dt', 'hm']) }}
SELECT
    auction, bidder, price, `dateTime`, extra,
    DATE_FORMAT(`dateTime`, 'yyyy-MM-dd') AS dt,
    DATE_FORMAT(`dateTime`, 'HH:mm') AS hm
FROM {{ ref('bid') }}
