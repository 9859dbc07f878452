__version__ = "0.2.0"
version = __version__  # the name that dbt reads
