"""The orchestrator's view of a build: assets, checks, automation. Only this imports Dagster."""
