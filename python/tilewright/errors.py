"""What goes wrong, by kind. Every error lists all problems of its input, not only the first."""
from __future__ import annotations

import re
from typing import NamedTuple

# Options of the command whose keywords here have other names; the others have the same, with underscores.
_KEYWORDS = {
    "shape": "dimensions", "feed": "feeds", "output-node": "output_nodes", "keep-argmax": "keep_arg_max",
    "fill-weights": "fill_gain", "calibration": "images", "evaluate": "evaluation", "input": "x",
    "input-scale": "scale", "calibration-scale": "scale", "evaluate-scale": "scale", "fix": "fixed",
    "expr": "graph", "union": "unions", "workload": "model", "rtl-cache": "cache_folder",
}


def in_python(text: str) -> str:
    """A message of the library, where it names an option of the command, with this package's keyword: "--shape data.0=4"
    becomes "dimensions={'data.0': 4}", "--calibration" becomes "images"."""
    def keyword(found: re.Match[str]) -> str:
        option, key, value = found.groups()
        name = _KEYWORDS.get(option, option.replace("-", "_"))
        if key is None:
            return name
        size = "[" + value.rstrip(".").replace("x", ", ") + "]" if "x" in value else value
        if value.isalpha() and value.islower():
            size = f"'{value}'"
        return f"{name}={{'{key}': {size}}}"
    text = re.sub(r"tilewright (\w+) --help", r"help(tilewright.\1)", text)
    return re.sub(r"(?<![\w-])--([a-z][a-z-]*[a-z])(?: ([\w./:-]+)=([\w.]+))?", keyword, text)


class Diagnostic(NamedTuple):
    """One problem: where it is (a node, or a line of a file), the operator or field, what is wrong, what to do."""

    kind: str
    """invalid input, unsupported, infeasible or internal error."""
    where: str
    """A node, or a line of a file; empty where there is none."""
    op: str
    """The operator or field concerned."""
    message: str
    """What is wrong."""
    hint: str
    """What to do."""

    def __str__(self) -> str:
        place = f"{self.where} ({self.op})" if self.where and self.op else self.where or self.op
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}; {self.hint}" if self.hint else text


class Error(Exception):
    """Base of all errors of Tilewright; `exit_code` is the one of the command."""

    exit_code = 4
    """1 invalid input, 2 unsupported, 3 infeasible, 4 internal."""
    diagnostics: list[Diagnostic]
    """Every problem of the input."""

    def __init__(self, text: str, diagnostics: list[tuple[str, str, str, str, str]]):
        super().__init__(in_python(text))
        self.diagnostics = [Diagnostic(*map(in_python, fields)) for fields in diagnostics]


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
