"""MATCH_RECOGNIZE of Flink as Spark SQL: a partition's rows as an array, and Flink's automaton as an `aggregate()`."""
