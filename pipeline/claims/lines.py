"""Where each field of a TOML file stands, for messages that name the line.

Belongs here: finding lines only; ``tomllib`` reads the file and tells none of them.
"""

import re
from collections import Counter

Path = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\-\"' ]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*([\w\-\"']+(?:\s*\.\s*[\w\-\"']+)*)\s*=")
_QUOTES = re.compile(r'"""|' + "'''")


class Lines:
    """The line of each field of a TOML text, which has been found valid."""

    def __init__(self, text: str) -> None:
        """Take the file's text."""
        self._lines: dict[Path, int] = {}
        counts: Counter[Path] = Counter()
        table: Path = ()
        is_inside_text = False
        for number, line in enumerate(text.splitlines(), start=1):
            starts_outside = not is_inside_text
            is_inside_text ^= len(_QUOTES.findall(line)) % 2 == 1
            if not starts_outside:
                continue
            if header := _HEADER.match(line):
                table = _table(header[2], header[1] == "[[", counts)
                self._lines.setdefault(table, number)
            elif key := _KEY.match(line):
                self._lines.setdefault((*table, *_names(key[1])), number)

    def of(self, path: Path) -> int:
        """Return the line of a field, else of what it stands in."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)


def _table(name: str, is_entry: bool, counts: Counter[Path]) -> Path:
    """Return a header's path, entries of a list numbered from 0."""
    path: Path = ()
    *outer, last = _names(name)
    for part in outer:
        path = (*path, part)
        if counts[path]:
            path = (*path, counts[path] - 1)
    path = (*path, last)
    if is_entry:
        counts[path] += 1
        path = (*path, counts[path] - 1)
    return path


def _names(dotted: str) -> list[str]:
    return [name.strip().strip("\"'") for name in dotted.split(".")]
