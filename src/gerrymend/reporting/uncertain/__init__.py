"""Audits with an attribute that is known as probabilities: words, text, Markdown and a page."""
