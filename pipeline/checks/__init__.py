"""Whether the tables of a build may be published."""
