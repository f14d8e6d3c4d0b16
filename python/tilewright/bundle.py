"""Bundles: models compiled for an overlay."""
from __future__ import annotations

import json
import os
from typing import Any

import numpy.typing as npt

from . import _native
from ._call import prefix
from .model import Array, Path, Ported, Run, run_request


class Report:
    """Facts as `data` (of the command's --json) and as `text`; `svg` is their picture, where there is one."""

    def __init__(self, text: str, data: str, svg: str = ""):
        self.text, self.svg = text, svg
        self.data: Any = json.loads(data)

    def __repr__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str | None:
        return self.svg or None


class Bundle(Ported):
    """A model with its overlay programs. `Model.compile` makes one, `open_bundle` reads one."""

    def __init__(self, bundle: _native.Bundle):
        super().__init__(bundle)
        self._bundle = bundle

    @property
    def hardware(self) -> str:
        """The overlay's name."""
        return self._bundle.hardware

    @property
    def layers(self) -> Report | None:
        """Where each node runs, why, and its estimated cycles; None for a bundle from a file."""
        text, data = self._bundle.layers
        return Report(text, data) if data else None

    def save(self, path: Path) -> None:
        """Writes the bundle (.twb): `open_bundle` and the command read it."""
        self._bundle.write(os.fspath(path))

    def measure(self, x: npt.ArrayLike, *, engine: str = "functional", scale: float = 1.0, memory: str | None = None,
                verify: bool = False, trace: Path | None = None, threads: int | None = None) -> Run:
        """Runs samples (along axis 0, multiplied by `scale`) on an engine: functional, host (the integer reference),
        cycle, or rtl (the Verilog in Verilator). `verify` compares every output with the reference and raises
        InternalError where one differs."""
        request = run_request(x, engine, scale, verify, threads, memory, trace)
        return Run(self._bundle.run(request, prefix))

    def run(self, x: npt.ArrayLike, **options: Any) -> Array:
        """The only output of `measure`, with its options."""
        return self.measure(x, **options).output

    def report(self, memory: str = "fixed") -> Report:
        """Cycles of every layer against its roofline, with the picture."""
        return Report(*self._bundle.timing(memory))

    def __repr__(self) -> str:
        return f"<Bundle for {self.hardware}>"


def open_bundle(path: Path, hardware: Path = "") -> Bundle:
    """Reads a bundle; `hardware` names another overlay to run it on."""
    return Bundle(_native.read_bundle(os.fspath(path), os.fspath(hardware), prefix))
