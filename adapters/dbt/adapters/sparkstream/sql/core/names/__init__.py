"""Names in a query: the relations, columns, rows and fields that they mean."""
