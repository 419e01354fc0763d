"""Inference archives become raw rows: LoadGen's logs give the value of each scenario."""
