-- People who register at the auction house.
select
    cast(id as bigint) as id,
    name,
    emailAddress,
    creditCard,
    city,
    state,
    cast(dateTime as timestamp_ntz) as dateTime,
    extra
from {{ events('person') }}
