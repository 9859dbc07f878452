"""What all of the translator is built of: a text with its edits, intervals, windows, frames, types, columns, errors."""
