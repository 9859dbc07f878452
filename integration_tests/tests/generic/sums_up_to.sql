{# The column's sum is the number of rows with a time in the other relation, counted by windows of another size. #}
{% test sums_up_to(model, column, other, timecol) %}
select *
from (select sum({{ column }}) as here from {{ model }})
cross join (select count(*) as there from << tumble({{ other }}, {{ timecol }}, '7 hours') >>)
where here <> there
{% endtest %}
