"""Whose results these are, in the words that must stand below anything shown of them.

Belongs here: the lines of attribution and the trademark legend.
"""

RETRIEVED = (
    "MLPerf® results retrieved from the results repositories of github.com/mlcommons; derived "
    "metrics, such as ratios, are not verified by MLCommons Association."
)

LEGEND = (
    "The MLPerf name and logo are registered and unregistered trademarks of MLCommons Association "
    "in the United States and other countries. All rights reserved. Unauthorized use strictly "
    "prohibited. See www.mlcommons.org for more information."
)
"""Verbatim from the results messaging guidelines of mlcommons/policies, section 3.2."""


def attribution_lines() -> list[str]:
    """Return the lines that end every table and text made from results."""
    return [RETRIEVED, LEGEND]
