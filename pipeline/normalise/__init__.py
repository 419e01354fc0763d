"""From untouched bytes to canonical results, rejects and warnings. Knows no orchestrator."""
