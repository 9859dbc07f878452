"""Tables of streaming models: a module for each format, and the tables that take their place."""
