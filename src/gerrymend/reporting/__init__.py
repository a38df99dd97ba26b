"""Turn the plain data of a report into words, text, Markdown and pages.

What is rendered is the dict that is also the JSON (`to_dict`), never an array of the data: a page
can hold no more than the JSON does.
"""
