"""The declared tables: every column's type, unit and meaning, one TOML file a table.

This is the one place where a public table's shape is written down. The frames of ``normalise``,
the blocking schema checks, the database's comments, ``roundtable tables`` and the data package
all follow from it.
"""
