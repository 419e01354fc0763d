"""The report: a static site made from the published tables, and nothing else.

Belongs here: pages, their figures, and how they look. Every number comes from a query on the
current release; a page's module in ``pages`` turns queries into rows, and rows into a chart and the
table that holds the same numbers.
"""
