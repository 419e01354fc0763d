"""Training archives become raw rows: the runs of a benchmark give the time to train."""
