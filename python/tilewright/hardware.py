"""Hardware itself: synthesis, raw programs, and files that run."""
from __future__ import annotations

import os
import tempfile

from . import _native
from ._call import fill, limits_of, prefix
from ._progress import Progress, shown
from ._samples import Preprocess, Samples
from .model import Path, Run, run_request
from .report import Report


def synth(hardware: Path, device: str | None = None, output: Path | None = None, *, clock: float | None = None,
          seed: int | None = None, timeout: float | None = None, rtl_only: bool | None = None,
          no_dsp: bool | None = None, allow_misfit: bool | None = None, progress: Progress = None) -> Report:
    """Synthesis, placement and routing of an overlay (a preset's name or a file) or of a generated design's folder, for
    a device. `clock` in MHz, `timeout` of each tool in seconds. Raises Infeasible where the device is too small, unless
    `allow_misfit`. `rtl_only` writes the Verilog to `output` and runs no tool."""
    request = fill(_native.SynthesisRequest(), hardware=os.fspath(hardware), device=device, output=output,
                   temporary=tempfile.gettempdir() if output is None else None, clock_mhz=clock, seed=seed,
                   timeout_s=timeout, rtl_only=rtl_only, no_dsp=no_dsp, allow_misfit=allow_misfit)
    with shown(progress, "synth") as sink:
        return Report(*_native.synth(request, prefix, sink))


def execute(program: Path, *, engine: str = "functional", memory: str | None = None, trace: Path | None = None,
            check: bool = False, allow_outside: bool = False, time: float | str = 600) -> Report:
    """Runs a raw overlay program (a program.yaml) and writes its dumps. `check` looks for hazards first; `time` in
    seconds or "10min", for both."""
    request = fill(_native.RawRunRequest(), program=os.fspath(program), check=check, allow_outside=allow_outside,
                   engine=fill(_native.EngineRequest(), name=engine, memory=memory,
                               trace=None if trace is None else os.fspath(trace)))
    return Report(*_native.exec(request, limits_of(time, 0), prefix))


def run(path: Path, x: Samples | None = None, *, engine: str = "functional", scale: float = 1.0,
        preprocess: Preprocess = None, memory: str | None = None, verify: bool = False, threads: int | None = None,
        progress: Progress = None) -> Run:
    """Runs what a file or folder holds: a model (on the host), a bundle, a design, or a mapped program
    (engine="fabric"), on samples: an array has them along axis 0, and Model.measure lists what else `x` may be."""
    request = run_request({} if x is None else x, engine, scale, preprocess, verify, threads, memory)
    request.model = _native.ModelFile(os.fspath(path))
    with shown(progress, "run") as sink:
        return Run(_native.run(request, prefix, sink))
