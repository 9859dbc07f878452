"""Programs for developers of this project; nothing of it is installed."""
