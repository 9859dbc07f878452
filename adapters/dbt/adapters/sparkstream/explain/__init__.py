"""What a model does with its rows, as a picture, a page and a text."""
