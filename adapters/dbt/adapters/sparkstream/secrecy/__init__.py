"""Secrets and private files: nobody else on the machine, and no log, gets to see them."""
