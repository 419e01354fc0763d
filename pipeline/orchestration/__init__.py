"""The orchestrator's view of a build: assets, checks, schedule. Nothing else imports Dagster."""
