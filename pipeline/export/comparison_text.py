"""A comparison as text, Markdown or JSON.

Belongs here: the words around the figures. Text and Markdown end with whose results these are.
"""

import json
from collections.abc import Iterable, Sequence
from typing import IO, Any, NamedTuple

from pipeline.export.answers import escaped, shown, write_table
from pipeline.export.attribution import NOT_VERIFIED, attribution_lines
from pipeline.export.comparison import Comparison, Row

MEANING = (
    "Ratios are of the best result of the first over results of the second at the same "
    "accelerators and nodes; above 1 the first is better, for latency and time to train too. "
    "A verdict flips where it depends on the result compared with."
)


def write_comparison(comparison: Comparison, format: str, out: IO[str]) -> None:
    """Write a comparison as table, json or markdown."""
    writers = {"table": _write_table, "json": _write_json, "markdown": _write_markdown}
    writers[format](comparison, out)


def _write_json(comparison: Comparison, out: IO[str]) -> None:
    out.write(json.dumps(vars(comparison), ensure_ascii=False, indent=1) + "\n")


def _write_table(comparison: Comparison, out: IO[str]) -> None:
    out.writelines(f"{line}\n" for line in _opening(comparison))
    for section in _sections(comparison):
        out.write(f"\n{section.title}\n")
        if section.rows:
            write_table(section, out)
    out.write("\n" + "".join(f"{line}\n" for line in _differences(comparison)) + "\n")
    out.writelines(f"{line}\n" for line in attribution_lines())


def _write_markdown(comparison: Comparison, out: IO[str]) -> None:
    title, *meaning = map(escaped, _opening(comparison))
    paragraphs = [f"### {title}", *meaning]
    for section in _sections(comparison):
        paragraphs.append(f"**{escaped(section.title)}**")
        if section.rows:
            lines = [section.columns, ["---"] * len(section.columns), *section.rows]
            paragraphs.append("\n".join(map(_markdown_line, lines)))
    paragraphs += map(escaped, [*_differences(comparison), *attribution_lines()])
    out.write("\n\n".join(paragraphs) + "\n")


class _Section(NamedTuple):
    """A titled table, which ``write_table`` takes for an answer."""

    title: str
    columns: list[str]
    rows: list[list[Any]]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return the rows."""
        return [tuple(row) for row in self.rows]


def _opening(comparison: Comparison) -> list[str]:
    """Return what is compared, what a ratio means, and what is due where logs are the source."""
    latest = " (the latest complete round in which both have results)"
    return [
        f"{comparison.a} against {comparison.b}, {comparison.round_key}"
        + (latest if comparison.is_latest else ""),
        MEANING,
        *([] if comparison.is_verified else [f"From submission logs. {NOT_VERIFIED}"]),
    ]


def _sections(comparison: Comparison) -> list[_Section]:
    a, b = comparison.a, comparison.b
    pairs, coverage = comparison.comparisons, comparison.coverage
    sections = [
        _Section(
            f"Compared: {len(pairs) or 'nothing that both have at one number of accelerators'}",
            _headed(comparison.kind),
            [_ratios(row, number, comparison.kind) for number, row in enumerate(pairs, start=1)],
        ),
        _Section(
            f"What one has and the other lacks: {len(coverage) or 'nothing'}",
            ["category", "benchmark", a, b, f"only {a}", f"only {b}"],
            [_texts(row.values()) for row in coverage],
        ),
    ]
    if comparison.sizes:
        sections.append(
            _Section(
                "Both have these, at no shared number of accelerators (and nodes)",
                ["category", "benchmark", "target", "scenario", a, b],
                [_texts(row.values()) for row in comparison.sizes],
            )
        )
    return sections


def _differences(comparison: Comparison) -> list[str]:
    """Return each set of differences once, after the numbers of the comparisons it goes with."""
    numbers: dict[str, list[str]] = {}
    for number, row in enumerate(comparison.comparisons, start=1):
        differences = "; ".join(row["differences"]) or "nothing that is published"
        numbers.setdefault(differences, []).append(str(number))
    told = [f"{', '.join(of)}: {what}" for what, of in numbers.items()]
    return ["What differs between the two best results, by number:", *told] if told else []


def _headed(kind: str) -> list[str]:
    own, product = (["vendor's own"], []) if kind == "accelerator" else ([], ["accelerator"])
    return [
        *("", "category", "benchmark", "target", "scenario", "nodes", "accelerators", *product),
        *("division", "best a", "best b", "unit", "best", "median", *own, "least", "most"),
        *("comparators", "flips", "entries"),
    ]


def _ratios(row: Row, number: int, kind: str) -> list[Any]:
    of_accelerators = kind == "accelerator"
    own = ["ratio_vendors_own"] if of_accelerators else []
    ratios = ["ratio_best", "ratio_median", *own, "ratio_min", "ratio_max"]
    return [
        number,
        *_texts(row[name] for name in ("category", "benchmark", "accuracy_target", "scenario")),
        row["nodes"],
        row["accelerators"],
        *([] if of_accelerators else [_both(row, "accelerator")]),
        _both(row, "division"),
        *(row[name] for name in ("best_a", "best_b", "unit")),
        *(None if row[name] is None else round(row[name], 3) for name in ratios),
        row["comparators"],
        "yes" if row["verdict_flips"] else "no",
        " / ".join(row[name] or "no id" for name in ("entry_id_a", "entry_id_b")),
    ]


def _both(row: Row, name: str) -> str:
    a, b = row[f"{name}_a"], row[f"{name}_b"]
    return str(a) if a == b else f"{a} against {b}"


def _texts(values: Iterable[Any]) -> list[str]:
    return [
        ", ".join(map(_text, value)) if isinstance(value, list) else _text(value)
        for value in values
    ]


def _text(value: Any) -> str:
    if isinstance(value, dict):  # a size
        return f"{value['accelerators']} ({value['nodes']})"
    return shown(value)


def _markdown_line(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(escaped(shown(cell)) for cell in cells) + " |"
