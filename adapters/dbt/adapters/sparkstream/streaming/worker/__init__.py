"""Code that runs in the Python worker of Spark's driver; it imports nothing of the package."""
