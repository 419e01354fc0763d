"""Where things are and how services are reached, read from the environment once per command.

Belongs here: the settings that the README documents. Nothing is read when modules are imported.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).parent
REPOSITORY = PACKAGE.parent


@dataclass(frozen=True)
class Settings:
    """One command's settings; ``home`` is the warehouse folder, as an absolute path.

    ``store`` is where runs on several machines exchange tables, None on one machine.
    """

    home: Path
    github_api: str
    github_raw: str
    github_codeload: str
    github_token: str | None
    webhook: str | None = field(default=None, repr=False)
    store: str | None = None

    @classmethod
    def from_environment(cls) -> "Settings":
        """Read the ROUNDTABLE_* variables and GITHUB_TOKEN."""
        return cls(
            home=Path(os.environ.get("ROUNDTABLE_HOME") or "warehouse").absolute(),
            github_api=_address("ROUNDTABLE_GITHUB_API", "https://api.github.com"),
            github_raw=_address("ROUNDTABLE_GITHUB_RAW", "https://raw.githubusercontent.com"),
            github_codeload=_address("ROUNDTABLE_GITHUB_CODELOAD", "https://codeload.github.com"),
            github_token=os.environ.get("GITHUB_TOKEN") or None,
            webhook=os.environ.get("ROUNDTABLE_WEBHOOK") or None,
            store=os.environ.get("ROUNDTABLE_STORE") or None,
        )


def sql_folder() -> Path:
    """Return the folder of SQL models: inside an installed package, beside it in a checkout."""
    installed = PACKAGE / "sql"
    return installed if installed.is_dir() else REPOSITORY / "sql"


def citation_file() -> Path:
    """Return the file that tells how to cite, in the same two places."""
    installed = PACKAGE / "CITATION.cff"
    return installed if installed.is_file() else REPOSITORY / "CITATION.cff"


def _address(variable: str, default: str) -> str:
    return (os.environ.get(variable) or default).rstrip("/")
