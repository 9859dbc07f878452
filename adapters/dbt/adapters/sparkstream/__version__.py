__version__ = "0.3.0"
version = __version__  # the name that dbt reads
