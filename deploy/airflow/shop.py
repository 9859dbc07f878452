"""Airflow 3: each hour what is new, in the streaming models and in what reads them."""

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

with DAG(
    "shop",
    schedule="@hourly",
    start_date=datetime(2026, 1, 1),
    catchup=False,  # a run reads all that came since the last one
    max_active_runs=1,  # a second run of a model is refused while one is on its way
    default_args={"retries": 2, "retry_delay": timedelta(minutes=2)},
):
    BashOperator(task_id="build", bash_command="dbt build", cwd="/srv/shop") >> BashOperator(
        task_id="streams", bash_command="sparkstream streams --format json", cwd="/srv/shop"
    )
