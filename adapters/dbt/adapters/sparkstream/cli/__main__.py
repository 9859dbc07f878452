"""`python -m dbt.adapters.sparkstream.cli`."""

from dbt.adapters.sparkstream.cli import main

main(prog_name="sparkstream")
