"""A trial: one kind of fault, how often it was tried, and the answers to four questions.

Belongs here: counting and what a finished trial says. How a fault is made is the task of the module
of its group.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

ANSWERS = "last good warehouse answers"
WHOLE = "nothing half-made"
CLEAR = "message is clear"
HEALS = "next build heals"
QUESTIONS = (ANSWERS, WHOLE, CLEAR, HEALS)


@dataclass
class Trial:
    """One row of the table; safe for threads.

    ``kept_by`` is the test of ``make test`` that keeps one case, ``note`` what was measured, and
    ``left_out`` why the fault was not tried, if so.
    """

    fault: str
    kept_by: str
    note: str = ""
    left_out: str = ""
    tried: int = 0
    seconds: float = 0.0
    lost: list[str] = field(default_factory=list)
    _asked: Counter[str] = field(default_factory=Counter)
    _good: Counter[str] = field(default_factory=Counter)
    _lock: Any = field(default_factory=Lock)

    @contextmanager
    def attempt(self, what: str) -> Iterator["Attempt"]:
        """Count one attempt; whatever it raises is a loss."""
        attempt = Attempt(self, what)
        began = time.monotonic()
        try:
            yield attempt
        except Exception as error:
            attempt.lose(f"{type(error).__name__}: {error}")
        finally:
            with self._lock:
                self.tried += 1
                self.seconds += time.monotonic() - began

    def answer(self, question: str) -> str:
        """Return how often the answer was good, such as ``50/50``; a dash if nobody asked."""
        asked = self._asked[question]
        return f"{self._good[question]}/{asked}" if asked else "–"

    def as_json(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        return {
            "fault": self.fault,
            "tried": self.tried,
            **{question: self.answer(question) for question in QUESTIONS},
            "lost": self.lost,
            "note": self.note,
            "left_out": self.left_out,
            "kept_by": self.kept_by,
            "seconds": round(self.seconds, 1),
        }


@dataclass
class Attempt:
    """One attempt of a trial; ``what`` tells it from the others."""

    trial: Trial
    what: str

    def ask(self, question: str, problems: Sequence[str]) -> None:
        """Answer one of the questions: well if there are no problems."""
        with self.trial._lock:
            self.trial._asked[question] += 1
            self.trial._good[question] += not problems
        for problem in problems:
            self.lose(f"{question}: {problem}")

    def lose(self, problem: str) -> None:
        """Write down what was lost."""
        with self.trial._lock:
            self.trial.lost.append(f"{self.what}: {problem[:600]}")
