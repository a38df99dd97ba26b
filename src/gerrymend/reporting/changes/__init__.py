"""What changed from one audit to another: plain data to words, text, Markdown and a page."""
