"""Databases of measured trials (.db), and their texts (.jsonl, .jsonl.gz)."""
from __future__ import annotations

import os
from typing import NamedTuple

from . import _native
from ._call import prefix
from .model import Path
from .report import Report


__all__ = ["Added", "best", "merge", "read", "recover", "stats", "write"]


class Added(NamedTuple):
    """What `read` and `merge` did."""

    records: int
    """How many the database holds."""
    files: list[tuple[str, int]]
    """Each file, and how many records it added."""


def best(*files: Path, workload: str = "", hardware: Path = "", memory: str = "fixed") -> Report:
    """The best schedule known for each layer and machine. `workload`: a part of a layer's text; `hardware`: an overlay."""
    return Report(*_native.best_records([os.fspath(f) for f in files], workload, os.fspath(hardware), memory, prefix))


def write(database: Path, output: Path, *, best_only: bool = False) -> int:
    """Writes the records as text, a JSON object per line, compressed if `output` ends in .gz; returns how many."""
    return _native.export_records(os.fspath(database), best_only, os.fspath(output))


def read(database: Path, *files: Path) -> Added:
    """Adds the records of texts to a database, which is made if need be."""
    return Added(*_native.import_records(os.fspath(database), [os.fspath(f) for f in files]))


def merge(database: Path, *files: Path) -> Added:
    """Adds the records of other databases to a database, which is made if need be."""
    return Added(*_native.merge_records(os.fspath(database), [os.fspath(f) for f in files]))


def stats(database: Path) -> Report:
    """How many records a database holds, of what, and the seconds they took."""
    return Report(*_native.record_statistics(os.fspath(database)))


def recover(damaged: Path, output: Path) -> int:
    """Saves every intact record of a damaged database into a new one; returns how many."""
    return _native.recover_records(os.fspath(damaged), os.fspath(output))
