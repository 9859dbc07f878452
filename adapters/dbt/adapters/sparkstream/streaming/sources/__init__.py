"""Sources of a stream: tables, files, Kafka, Python classes, and their values."""
