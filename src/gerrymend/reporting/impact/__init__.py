"""Lay tables of impact ratios out: words, text, Markdown, a page and spreadsheets, from plain data."""
