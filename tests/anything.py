"""What anyone might write in a field: strategies that the tests of all readers share.

Belongs here: values and changes of values. What a valid input looks like stands beside each test.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

ANY_TEXT = st.text(st.characters())
PIECES = st.sampled_from(
    ["AMD", "NVIDIA H200", " and ", ", ", "(x8)", "(x0)", "(Power Cap 5 W)", "-99.9", "llama2-70b"]
    + ["{", "}", "'", "..", "/", "\u2011", "\ud800", "\x00", "\n", "N/A", "+", "_", "|"]
)
NAMES = ANY_TEXT | st.lists(PIECES, max_size=6).map("".join)
NUMBERS = st.one_of(
    st.integers(),
    st.floats(),
    st.sampled_from([0, -1, 10**400, 2**63, 2**53, 1e308, 5e-324]),
)
WORDS = st.sampled_from(
    ["Offline", "SERVER", "edge", "Watts", "Tokens/s", "open", "", "6,862.3", "1e999", "nan", "٣"]
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, NAMES, WORDS)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(ANY_TEXT, SCALARS))


@st.composite
def changed_text(draw: st.DrawFn, text: str, values: st.SearchStrategy[Any] = VALUES) -> str:
    """Return a text with a few of its words replaced by JSON, or of its lines lost or repeated."""
    for _ in range(draw(st.integers(1, 3))):
        lines = text.splitlines(keepends=True) or [""]
        at = draw(st.integers(0, len(lines) - 1))
        kind = draw(st.sampled_from(["lost", "twice", "cut", "word", "word", "word"]))
        if kind == "word":
            lines[at] = draw(_with_a_word_changed(lines[at], values))
        elif kind == "cut":
            lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
        else:
            lines[at : at + 1] = [lines[at]] * (0 if kind == "lost" else 2)
        text = "".join(lines)
    return text


@st.composite
def _with_a_word_changed(draw: st.DrawFn, line: str, values: st.SearchStrategy[Any]) -> str:
    """Return a line in which what stands between two blanks, commas or colons is another value."""
    ends = [at for at, char in enumerate(line) if char in ' ,:"={}[]\n'] or [0, len(line)]
    at = draw(st.integers(0, len(ends) - 1))
    start, end = ends[at] + 1, ends[min(at + 1, len(ends) - 1)]
    written = json.dumps(draw(values), ensure_ascii=draw(st.booleans()))
    return line[:start] + written + line[max(start, end) :]


@st.composite
def changed_files(
    draw: st.DrawFn, files: Mapping[str, str], roots: Sequence[str]
) -> dict[str, bytes]:
    """Return files with some changed, lost, copied elsewhere, or put under a name of any kind.

    ``roots`` are parts of paths that another part takes the place of.
    """
    made = {path: content.encode() for path, content in files.items()}
    for path in draw(st.lists(st.sampled_from(sorted(files)), min_size=1, max_size=3)):
        kind = draw(st.sampled_from(["text", "text", "text", "bytes", "lost", "copy", "name"]))
        if kind == "text":
            made[path] = draw(changed_text(files[path])).encode("utf-8", "surrogatepass")
        elif kind == "bytes":
            made[path] = draw(st.binary())
        elif kind == "lost":
            made.pop(path, None)
        else:
            part = draw(st.sampled_from([root for root in roots if root in path] or [path]))
            other = draw(st.sampled_from(roots) | NAMES)
            copy = path.replace(part, other).encode("utf-8", "replace").decode()
            made[copy] = made.get(path, b"") if kind == "copy" else made.pop(path, b"")
    return made
