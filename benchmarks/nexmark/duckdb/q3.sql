with locals as (from person where list_contains(['OR', 'ID', 'CA'], state))
select name, city, state, auction.id
from auction, locals
where seller = locals.id and category = 10
