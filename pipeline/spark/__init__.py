"""The SQL models on Spark: translated from DuckDB's dialect, run over the same Parquet.

Belongs here: all that knows of Spark. What a model says stands in ``sql`` and nowhere else.
"""
