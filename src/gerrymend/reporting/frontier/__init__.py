"""Turn the plain data of a frontier into text, Markdown and a page."""
