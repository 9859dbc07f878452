__version__ = "0.2.1"
version = __version__  # the name that dbt reads
