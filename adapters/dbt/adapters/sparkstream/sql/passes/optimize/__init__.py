"""The optimiser: queries over windows with the same rows, names and types in less time."""
