"""Generated designs: a model in Verilog."""
from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy.typing as npt

from . import _native
from ._call import prefix
from .model import Array, Path, Run, run_request


class Folder:
    """A user's folder, or a temporary one that goes with this object."""

    def __init__(self, path: Path | None):
        self._temporary = tempfile.TemporaryDirectory(prefix="tilewright-") if path is None else None
        self.path = os.path.join(self._temporary.name, "design") if self._temporary else os.fspath(path or "")


class Design:
    """A folder of Verilog with its `report` (cycles, resources, layers) and its `text`; `ending` says what ended the search
    early: none, time, memory or request (Ctrl-C). `Model.generate` makes one."""

    def __init__(self, folder: Folder, text: str, report: dict[str, Any], ending: str):
        self._folder, self.text, self.report, self.ending = folder, text, report, ending

    @property
    def folder(self) -> str:
        return self._folder.path

    def measure(self, x: npt.ArrayLike, *, engine: str = "cycle", scale: float = 1.0, memory: str | None = None,
                verify: bool = False, threads: int | None = None) -> Run:
        """Runs samples (along axis 0, multiplied by `scale`): cycle (simulated time, values of the host) or rtl (the
        Verilog in Verilator). `verify` compares every output with the integer reference."""
        request = run_request(x, engine, scale, verify, threads, memory)
        request.model = _native.ModelFile(self.folder)
        return Run(_native.run(request, prefix))

    def run(self, x: npt.ArrayLike, **options: Any) -> Array:
        """The only output of `measure`, with its options."""
        return self.measure(x, **options).output

    def __repr__(self) -> str:
        return self.text
