"""Row windows: TUMBLE, HOP, CUMULATE and SESSION."""
