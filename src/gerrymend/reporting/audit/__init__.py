"""Turn the plain data of an audit into words, text, Markdown and pages."""
