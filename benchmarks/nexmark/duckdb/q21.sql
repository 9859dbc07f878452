-- Without a regular expression: what follows "channel_id=" in one of the parts between &.
with told as (
    from bid
    select *,
        map {'Apple': '0', 'Google': '1', 'Facebook': '2', 'Baidu': '3'}[channel] as known,
        list_filter(string_split(url, '&'), lambda part: starts_with(part, 'channel_id='))[1] as parameter
)
from told
select auction, bidder, price, channel, coalesce(known, substr(parameter, 12)) as channel_id
where known is not null or parameter is not null
