"""Code that runs beside Spark's driver; it imports nothing of the package."""
