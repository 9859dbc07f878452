from winners select category, cast(sum(winner.price) // count(*) as bigint) as average group by category
