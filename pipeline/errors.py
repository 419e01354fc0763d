"""Errors a user may see: each names what happened, to which file or round, and what to do next.

Belongs here: exception classes only. They carry text, never a half-finished result.
"""


class RoundtableError(Exception):
    """Something a user can act on; the message is one or two lines, shown without a traceback."""


class FileFault(RoundtableError):
    """One source file cannot be used at all; the last good figures of its round serve instead."""

    def __init__(self, file: str, problem: str, next_step: str) -> None:
        """Take the file's name, what is wrong with it, and what the reader can do about it."""
        super().__init__(f"{file}: {problem}. {next_step}")
        self.file = file
        self.problem = problem
        self.next_step = next_step


class CheckFailed(RoundtableError):
    """A blocking check failed: nothing was published and the former warehouse stands."""


class NothingToBuild(RoundtableError):
    """The source offers no round at all."""


class UnusableCall(RoundtableError):
    """The command was called wrongly; the command line exits with 2."""
