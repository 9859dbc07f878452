"""Kinds of constructs, each with the edits that make Spark SQL of it."""
