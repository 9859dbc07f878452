"""Help for editors: JSON schemas, and a templater for sqlfluff."""
