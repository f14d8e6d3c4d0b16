"""Generated designs: a model in Verilog."""
from __future__ import annotations

import html
import json
import os
import tempfile
from typing import Any

from . import _native
from ._call import prefix
from ._progress import Progress, shown
from ._samples import Preprocess, Samples
from .model import Array, Path, Run, run_request
from .report import Report


class Folder:
    """A user's folder, or a temporary one that goes with this object."""

    path: str
    """Where it is."""

    def __init__(self, path: Path | None):
        self._temporary = tempfile.TemporaryDirectory(prefix="tilewright-") if path is None else None
        self.path = os.path.join(self._temporary.name, "design") if self._temporary else os.fspath(path or "")


class Design:
    """A folder of Verilog. `Model.generate` makes one."""

    text: str
    """The design for people: cycles, resources, layers."""
    report: dict[str, Any]
    """The same as the command's --json, with `allocations_estimated` and whether the one chosen is `proven_optimal`."""
    explanation: str
    """Why the search chose this allocation; empty where a file replaced it."""
    ending: str
    """What ended the search early: none, time, memory or request (Ctrl-C)."""

    def __init__(self, folder: Folder, made: dict[str, Any]):
        self._folder, self.text, self.ending, self.explanation = folder, made["text"], made["ending"], made["explanation"]
        self.report = {**json.loads(made["json"]), "allocations_estimated": made["evaluated"],
                       "proven_optimal": made["proven"]}

    @property
    def folder(self) -> str:
        """Its path. A temporary folder goes with this object."""
        return self._folder.path

    def synth(self, **options: Any) -> Report:
        """Synthesis of this design, with the options of `synth`."""
        from .hardware import synth
        return synth(self.folder, **options)

    def measure(self, x: Samples, *, engine: str = "cycle", scale: float = 1.0, preprocess: Preprocess = None,
                memory: str | None = None, verify: bool = False, threads: int | None = None,
                progress: Progress = None) -> Run:
        """Runs samples; an array has them along axis 0, and Model.measure lists what else `x` may be.
        `engine`: cycle (simulated time, values of the host) or rtl (the Verilog in Verilator). `verify` compares every output with the integer reference."""
        request = run_request(x, engine, scale, preprocess, verify, threads, memory)
        request.model = _native.ModelFile(self.folder)
        with shown(progress, "run") as sink:
            return Run(_native.run(request, prefix, sink))

    def run(self, x: Samples, **options: Any) -> Array:
        """The only output of `measure`, with its options: the samples' outputs stacked along axis 0."""
        return self.measure(x, **options).output

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"
