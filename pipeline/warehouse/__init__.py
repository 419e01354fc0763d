"""From figures to tables: runs the SQL models and publishes database and Parquet together."""
