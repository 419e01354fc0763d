"""Public claims about results, as files that anyone can write, and reading them.

Belongs here: what a claim is, before any result is looked at. Holding claims against the results is
the task of the SQL models ``claim_comparators`` and ``claims``.
"""
