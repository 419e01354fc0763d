"""Where files come from: a folder or GitHub. Raw bytes and provenance, no cleaning."""
