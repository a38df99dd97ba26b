"""Reports as people read them: from the plain data of a report to pages, Markdown and text.

What is rendered is the dict that is also the JSON (`to_dict`), never an array of the data: a page
can hold no more than the JSON does.
"""
