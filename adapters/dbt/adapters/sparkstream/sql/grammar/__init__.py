"""From a text to a syntax tree."""
