"""From a node's template to the SQL that Spark gets: rendering, translation, and the texts that errors need."""
