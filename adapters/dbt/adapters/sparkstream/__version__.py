__version__ = "0.1.0"
version = __version__  # the name that dbt reads
