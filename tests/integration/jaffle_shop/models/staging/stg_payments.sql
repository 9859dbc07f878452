{%- set methods = ['credit_card', 'coupon', 'bank_transfer', 'gift_card'] -%}
select
    id as payment_id,
    order_id,
    payment_method,
    {{ cents_to_dollars('amount') }} as amount,
    {%- for method in methods %}
    payment_method = '{{ method }}' as is_{{ method }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ ref('raw_payments') }}
