"""Searches over schedules and hardware, and what studies teach."""
from __future__ import annotations

import os
import tempfile
from typing import Any, Sequence

from . import _native
from ._call import fill, fleet_of, limits_of, prefix, threads_of
from ._progress import Progress, shown
from .bundle import Bundle
from .model import Model, Path
from .report import Report, Row, axes, bars


class Tuning(Report):
    """Schedules found for a bundle; `rows` has a dict per distinct layer, with cycles before and after."""

    bundle: Bundle
    """The bundle with the schedules found."""
    curves: list[list[float]]
    """By row, the cycles of the best schedule after each trial; inf until one works."""
    ending: str
    """What ended the search early: none, time, memory or request (Ctrl-C)."""

    def __init__(self, found: dict[str, Any]):
        super().__init__(found["text"], found["json"], page=found["page"])
        self.bundle = Bundle(found["bundle"])
        self.curves, self.ending = found["curves"], found["ending"]

    def plot(self, ax: Any = None) -> Any:
        """The share of each layer's bound (%) by trials, with matplotlib, on `ax` or on new axes; returns the axes."""
        ax = axes(ax)
        for row, curve in zip(self.rows, self.curves):
            shares = [100 * row["bound_cycles"] / cycles for cycles in curve]
            ax.step(range(1, len(curve) + 1), shares, where="post", label=row["layers"][0])
        ax.set_xlabel("trials")
        ax.set_ylabel("share of the layer's bound, %")
        ax.legend()
        return ax


def tune(bundle: Bundle | Path, **options: Any) -> Tuning:
    """`Bundle.tune` of a bundle, or of a bundle's file, with its options."""
    from .bundle import open_bundle
    return (bundle if isinstance(bundle, Bundle) else open_bundle(bundle)).tune(**options)


class Study(Report):
    """Overlays and schedules explored together; `rows` has a dict per candidate that was tuned: latency_s, clock_mhz,
    lut, ff, dsp, bram, and whether it is on the front."""

    folder: str
    """Where the study lives; `explore` continues what it finds there."""
    ending: str
    """What ended the search early: none, time, memory or request (Ctrl-C)."""

    def __init__(self, folder: str, found: dict[str, Any], keeper: Any = None):
        super().__init__(found["text"], found["json"], found["svg"], found["page"])
        self.folder, self.ending, self._keeper = folder, found["ending"], keeper

    @property
    def rows(self) -> list[Row]:
        """A dict per candidate of every operand width; `operand_bits` tells the width, knobs stand by name."""
        return [{"operand_bits": width["operand_bits"], **{k: v for k, v in candidate.items() if k != "values"},
                 **dict(zip(width["knobs"], candidate["values"]))}
                for width in self.data["widths"] for candidate in width["candidates"]]

    @property
    def front(self) -> list[Row]:
        """The rows that no other candidate of their width beats in latency and area, by rising latency."""
        return sorted((row for row in self.rows if row["on_front"]), key=lambda row: (row["operand_bits"], row["latency_s"]))

    def importance(self, targets: Sequence[str] | None = None, seed: int = 1) -> Importance:
        """Which knobs matter for gops, fmax, lut, ff, dsp and bram (those of `targets`; all that the data support)."""
        return importance(self.folder, targets, seed)

    def plot(self, ax: Any = None) -> Any:
        """The fronts as stairs of LUTs over latency (ms), with matplotlib, on `ax` or on new axes; returns the axes."""
        ax = axes(ax)
        for bits in sorted({row["operand_bits"] for row in self.front}):
            front = [row for row in self.front if row["operand_bits"] == bits]
            ax.step([1e3 * row["latency_s"] for row in front], [row["lut"] for row in front], where="post", marker="o",
                    label=f"{bits} bits")
        ax.set_xlabel("latency, ms")
        ax.set_ylabel("LUT")
        if self.front:
            ax.legend()
        return ax


def explore(model: Model | Bundle | Path, device: Path, *, budget: float | str = 0, folder: Path | None = None,
            precision: Sequence[int] = (8, 4, 2, 1), trials: int | None = None, candidates: int | None = None,
            memory: str | None = None, memory_limit: int | str = 0, seed: int | None = None,
            changed_only: bool = False, threads: int | None = None, executor: str | None = None,
            jobs: int | None = None, job_folder: Path | None = None, partition: str | None = None,
            progress: Progress = None) -> Study:
    """Searches overlays and schedules together for a network on a device (a preset's name or a file), at operand widths
    of `precision` bits. `budget`: seconds or "10min", of all widths together; `candidates` per width; `trials`:
    schedules per layer and candidate (24). `memory_limit` in bytes or "2GiB"; `memory`: of the device's DRAM model. `folder` keeps the study, and continues it; without one it lives as long as
    the result. Ctrl-C ends with the front so far. `changed_only` retunes what has changed since."""
    keeper = tempfile.TemporaryDirectory(prefix="tilewright-study-") if folder is None else None
    place = os.path.join(keeper.name, "study") if keeper else os.fspath(folder or "")
    question = fill(_native.ExploreQuestion(), device=os.fspath(device), precision=list(precision), folder=place,
                    trials=trials, candidates=candidates, memory=memory, seed=seed, changed_only=changed_only,
                    threads=threads_of(threads), fleet=fleet_of(executor, jobs, job_folder, partition))
    if isinstance(model, Bundle):
        question.model = _native.ModelFile(model.name)
        question.set_bundle(model._bundle)
    else:
        question.model = model._file if isinstance(model, Model) else _native.ModelFile(os.fspath(model))
    with shown(progress, "explore") as sink:
        return Study(place, _native.explore(question, limits_of(budget, memory_limit), prefix, sink), keeper)


def study(folder: Path) -> Study:
    """The study that `explore` left in a folder."""
    return Study(os.fspath(folder), _native.study(os.fspath(folder)))


class Importance(Report):
    """How well results are predicted from design choices, and which choice matters; `rows` has a dict per choice."""

    def __init__(self, text: str, data: str, page: _native.Page):
        super().__init__(text, data, page=page)

    @property
    def rows(self) -> list[Row]:
        """Target, operand precision in bits (0: all), choice, and its share of what explains the target."""
        return [{"target": one["target"], "precision": one["precision"], "choice": choice, "share": share}
                for one in self.data["importance"] for choice, share in one["share"].items()]

    def plot(self, target: str, ax: Any = None) -> Any:
        """Bars of the choices' shares for a target, with matplotlib, on `ax` or on new axes; returns the axes."""
        rows = [row for row in self.rows if row["target"] == target and row["precision"] == 0]
        return bars(ax, [row["choice"] for row in rows], [row["share"] for row in rows], f"share in {target}")


def importance(data: Path, targets: Sequence[str] | None = None, seed: int = 1) -> Importance:
    """Of a study's folder, or of a file of implementation data. `targets`: gops, fmax, lut, ff, dsp, bram; all that the
    data support unless given."""
    return Importance(*_native.importance(os.fspath(data), list(targets or ()), seed))


def rules(device: Path) -> Report:
    """Which implementations of overlays can be sampled for a device: what each rule leaves, and why."""
    return Report(*_native.rules(os.fspath(device), prefix))
