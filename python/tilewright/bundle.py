"""Bundles: models compiled for an overlay."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _native
from ._call import fill, fleet_of, limits_of, prefix, threads_of
from ._progress import Progress, shown
from ._samples import Preprocess, Samples, samples_of
from .model import Array, Model, Path, Ported, Run, run_request
from .report import Report, bars

if TYPE_CHECKING:
    from .tuning import Tuning


class Timing(Report):
    """Cycles of every layer on an overlay against its roofline; `rows` has a dict per layer."""

    def plot(self, ax: Any = None) -> Any:
        """Bars of cycles by layer, with matplotlib, on `ax` or on new axes; returns the axes."""
        return bars(ax, [row["layer"] for row in self.rows], [row["cycles"] for row in self.rows], "cycles")


class Decoded(Report):
    """What a language model has added to a prompt; `data` has the cycles of every step on a timed engine."""

    @property
    def tokens(self) -> list[int]:
        """The tokens that were added."""
        return list(self.data["tokens"])

    @property
    def added(self) -> str | None:
        """The same as text, of a network whose tokens are bytes."""
        return str(self.data["text"]) if "text" in self.data else None


class Comparison(Report):
    """Where a bundle leaves its float model; `rows` has a dict per tensor, `sqnr_db` its signal-to-noise ratio."""

    _rows_at = ("tensors",)

    @property
    def faults(self) -> list[str]:
        """Values in which the simulator and the integer reference differ; must be empty."""
        return list(self.data["engine_faults"])


class Bundle(Ported):
    """A model with its overlay programs. `Model.compile` makes one, `open_bundle` reads one."""

    def __init__(self, bundle: _native.Bundle):
        super().__init__(bundle)
        self._bundle = bundle

    @property
    def name(self) -> str:
        """The network's name."""
        return self._bundle.name

    @property
    def hardware(self) -> str:
        """The overlay's name."""
        return self._bundle.hardware

    @property
    def layers(self) -> Report | None:
        """Where each node runs, why, and its estimated cycles; None for a bundle from a file or from `tune`."""
        text, data = self._bundle.layers
        return Report(text, data) if data else None

    def save(self, path: Path) -> None:
        """Writes the bundle (.twb): `open_bundle` and the command read it."""
        self._bundle.write(os.fspath(path))

    def measure(self, x: Samples, *, engine: str = "functional", scale: float = 1.0, preprocess: Preprocess = None,
                memory: str | None = None, verify: bool = False, trace: Path | None = None, state: Path | None = None,
                threads: int | None = None, progress: Progress = None) -> Run:
        """Runs samples on an engine; an array has them along axis 0, and Model.measure lists what else `x` may be.
        `engine`: functional, host (the integer reference), cycle, or rtl (the Verilog in Verilator). `verify` compares
        every output with the reference and raises InternalError where one differs. `trace`: a file of the cycle engine's
        trace. `state`: a file (.npz) that the states of a recurrent bundle are taken from, if there is one, and written
        to."""
        request = fill(run_request(x, engine, scale, preprocess, verify, threads, memory, trace), state=state)
        with shown(progress, "run") as sink:
            return Run(self._bundle.run(request, prefix, sink))

    def run(self, x: Samples, **options: Any) -> Array:
        """The only output of `measure`, with its options: the samples' outputs stacked along axis 0."""
        return self.measure(x, **options).output

    def decode(self, prompt: str | None = None, tokens: int = 64, *, prompt_tokens: list[int] | None = None,
               temperature: float | None = None, top: int | None = None, seed: int | None = None,
               engine: str = "functional", memory: str | None = None, verify: bool | None = None,
               progress: Progress = None) -> Decoded:
        """Continues a text, or the numbers of its tokens (`prompt_tokens`), by `tokens`: always the likeliest one, or
        drawn with `seed` by its share at a `temperature`, from the `top` likeliest. `engine` and `verify` as in
        `measure`. The bundle is one of `compile(decode=True)`."""
        request = fill(_native.DecodeRequest(), prompt=prompt, prompt_tokens=prompt_tokens, tokens=tokens,
                       temperature=temperature, top=top, seed=seed, verify=verify,
                       engine=fill(_native.EngineRequest(), name=engine, memory=memory))
        with shown(progress, "decode") as sink:
            return Decoded(*self._bundle.decode(request, prefix, sink))

    def report(self, memory: str = "fixed") -> Timing:
        """Cycles of every layer against its roofline, with the picture. `memory`: ideal, fixed[:LATENCY[:INTERVAL]]
        (in cycles), ddr, or a YAML file."""
        return Timing(*self._bundle.timing(memory))

    def explain(self, memory: str = "fixed", *, trials: bool = True, threads: int | None = None,
                progress: Progress = None) -> Timing:
        """What bounds each layer, and what would help; `trials` makes each change and measures it in cycles."""
        with shown(progress, "explain") as sink:
            return Timing(*_native.explain(self._bundle, memory, trials, threads_of(threads), sink))

    def compare(self, model: Model, x: Samples, *, scale: float = 1.0, preprocess: Preprocess = None,
                threshold_db: float = 20) -> Comparison:
        """Where this bundle leaves its float model, tensor by tensor, on the first sample of `x` (as in Model.measure). A
        signal-to-noise ratio below `threshold_db` gets its cause."""
        return Comparison(*_native.compare(model._graph, self._bundle, samples_of(x, scale, preprocess), threshold_db))

    def tune(self, *, trials: int | None = None, search: str | None = None, time: float | str = 0,
             memory_limit: int | str = 0, memory: str = "fixed", records: Path | None = None,
             layers: list[str] | None = None, batch: int | None = None, seed: int | None = None,
             threads: int | None = None, executor: str | None = None, jobs: int | None = None,
             job_folder: Path | None = None, partition: str | None = None, progress: Progress = None) -> Tuning:
        """Searches faster schedules: `trials` per distinct layer (1000), each timed on the cycle simulator behind
        `memory`. `search`: random, annealing, evolution, gbt or treegru. `time` in seconds or "10min"; `memory_limit`
        in bytes or "2GiB"; `records`: a database that answers what is known and keeps what is measured. `executor`:
        threads, local (processes) or slurm, `jobs` at once. Ctrl-C gives the best so far."""
        from .tuning import Tuning
        options = fill(_native.TuneOptions(), trials=trials, search=search, batch=batch, seed=seed,
                       threads=threads_of(threads), memory=memory, layers=layers)
        with shown(progress, "tune") as sink:
            return Tuning(_native.tune(self._bundle, options, os.fspath(records or ""),
                                       fleet_of(executor, jobs, job_folder, partition),
                                       limits_of(time, memory_limit), sink))

    def __repr__(self) -> str:
        return f"<Bundle for {self.hardware}>"

    def _repr_html_(self) -> str:
        layers = self.layers
        return layers._repr_html_() if layers else self.report()._repr_html_()


def open_bundle(path: Path, hardware: Path = "") -> Bundle:
    """Reads a bundle; `hardware` names another overlay to run it on."""
    return Bundle(_native.read_bundle(os.fspath(path), os.fspath(hardware), prefix))
