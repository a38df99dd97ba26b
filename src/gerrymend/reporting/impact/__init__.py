"""Impact ratios from plain data to words, text, Markdown, a page and spreadsheets."""
