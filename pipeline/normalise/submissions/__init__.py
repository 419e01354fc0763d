"""Submission archives become raw rows: every inference result, derived from its logs."""
