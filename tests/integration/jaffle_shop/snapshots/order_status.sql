{% snapshot order_status %}
{{ config(strategy='check', unique_key='order_id', check_cols=['status'], file_format='delta') }}
select * from {{ ref('orders') }}
{% endsnapshot %}
