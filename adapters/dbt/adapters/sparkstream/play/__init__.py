"""The playground: a page with rows to edit and SQL to write, which this machine serves to itself."""
