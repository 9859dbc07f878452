"""Errors and mistakes, at the place in the user's file."""
