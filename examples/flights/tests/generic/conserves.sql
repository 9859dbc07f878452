{# Nothing is lost or counted twice: for each value of `by`, `total` over this model is `times` times what
   `source_total` is over `source`. Rows that the source has and the model lacks count as well. #}
{% test conserves(model, total, source, source_total, by, times=1) %}
with windows as (

    select {{ by }} as k, {{ total }} as n
    from {{ model }}
    group by {{ by }}

),

expected as (

    select {{ by }} as k, {{ times }} * {{ source_total }} as n
    from {{ source }}
    group by {{ by }}

)

select k, windows.n as in_windows, expected.n as expected
from windows
full join expected using (k)
where coalesce(windows.n, 0) <> coalesce(expected.n, 0)
{% endtest %}
