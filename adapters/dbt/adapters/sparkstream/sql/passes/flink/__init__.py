"""Flink SQL whose text Spark would answer otherwise, or not at all: `7 / 2` is 3 in Flink and 3.5 in Spark."""
