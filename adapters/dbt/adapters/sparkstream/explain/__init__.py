"""Explanations of a model: its rows in their windows, as a picture, a page and a text."""
