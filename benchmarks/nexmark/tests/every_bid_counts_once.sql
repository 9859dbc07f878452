-- Queries that sort all bids into rows, windows or groups have every bid, and none twice.
with counted as (

    select 'q0' as query, count(*) as bids from {{ ref('q0') }}
    union all select 'q1', count(*) from {{ ref('q1') }}
    union all select 'q10', count(*) from {{ ref('q10') }}
    union all select 'q11', sum(bid_count) from {{ ref('q11') }}
    union all select 'q13', count(*) from {{ ref('q13') }}
    union all select 'q15', sum(total_bids) from {{ ref('q15') }}
    union all select 'q15 by rank', sum(rank1_bids + rank2_bids + rank3_bids) from {{ ref('q15') }}
    union all select 'q16', sum(total_bids) from {{ ref('q16') }}
    union all select 'q17', sum(total_bids) from {{ ref('q17') }}
    union all select 'q22', count(*) from {{ ref('q22') }}

)

select query, bids, (select count(*) from {{ ref('bid') }}) as expected
from counted
where bids is distinct from (select count(*) from {{ ref('bid') }})
