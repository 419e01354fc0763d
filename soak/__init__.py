"""Faults on purpose: what becomes of the warehouse when everything around it goes wrong.

``python -m soak`` tries each fault of the table in ``docs/faults.md`` as often as it says there,
against the command line as a process of its own, and writes that table. ``make test`` keeps one
case of each: the column "kept by" names the test.
"""
