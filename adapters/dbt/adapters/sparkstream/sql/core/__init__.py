"""Values that the whole translator uses: a text with its edits, intervals, windows, frames, types, columns, errors."""
