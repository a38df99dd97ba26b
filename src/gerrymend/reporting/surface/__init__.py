"""Turn the plain data of a surface into text, Markdown and a page."""
