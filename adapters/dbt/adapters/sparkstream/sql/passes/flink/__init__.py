"""What Flink SQL means where Spark, given the same text, would answer something else."""
