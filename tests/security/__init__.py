"""The project, tried as an attacker would: hostile rows, names, settings and neighbours."""
