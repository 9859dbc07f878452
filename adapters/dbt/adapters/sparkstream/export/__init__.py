"""`sparkstream build`: a dbt project in plain Spark SQL, which needs neither this adapter nor its package."""
