"""What goes wrong, by kind. Every error lists all problems of its input, not only the first."""
from __future__ import annotations

from typing import NamedTuple


class Diagnostic(NamedTuple):
    """One problem: where it is (a node, or a line of a file), the operator or field, what is wrong, what to do."""

    kind: str
    where: str
    op: str
    message: str
    hint: str

    def __str__(self) -> str:
        place = f"{self.where} ({self.op})" if self.where and self.op else self.where or self.op
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}; {self.hint}" if self.hint else text


class Error(Exception):
    """Base of all errors of Tilewright; `exit_code` is the one of the command."""

    exit_code = 4

    def __init__(self, text: str, diagnostics: list[tuple[str, str, str, str, str]]):
        super().__init__(text)
        self.diagnostics = [Diagnostic(*fields) for fields in diagnostics]


class InvalidInput(Error, ValueError):
    """A file, an array or an option that cannot be used."""

    exit_code = 1


class Unsupported(Error):
    """A valid input with something that Tilewright does not do."""

    exit_code = 2


class Infeasible(Error):
    """Nothing fits the hardware, the budget or the limits."""

    exit_code = 3


class InternalError(Error):
    """A fault of Tilewright itself: please report it."""

    exit_code = 4


def error_class(exit_code: int) -> type[Error]:
    return {1: InvalidInput, 2: Unsupported, 3: Infeasible}.get(exit_code, InternalError)
