"""Roundtable: every published MLPerf® result in one table that can be queried.

Data flows one way: sources -> normalise -> warehouse (models) -> export. ``orchestration`` runs
those stages and is the only part that knows the orchestrator.
"""
