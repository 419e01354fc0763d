"""Submission archives become raw rows: every result derived from its logs, suite by suite."""
