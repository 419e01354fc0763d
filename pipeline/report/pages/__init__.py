"""The pages: a module each, with its queries, charts and tables."""
