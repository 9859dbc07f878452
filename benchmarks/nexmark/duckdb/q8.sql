select id, name, make_timestamp_ms(epoch_ms(dateTime) // 10000 * 10000) as window_start
from person
where exists (
    from auction
    where seller = person.id and epoch_ms(auction.dateTime) // 10000 = epoch_ms(person.dateTime) // 10000
)
