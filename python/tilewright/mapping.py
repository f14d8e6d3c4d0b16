"""Layers on arrays of processing elements, and dataflow graphs on fabrics."""
from __future__ import annotations

import os
import warnings
from typing import Any

from . import _native
from ._call import fill, limits_of, prefix, threads_of
from ._progress import Progress, shown
from .model import Model, Path
from .report import Report, Row, bars


class Mapping(Report):
    """The mapping of every layer; `rows` has a dict per dataflow and layer."""

    csv: str
    """The table as comma-separated values: energies in the array's unit, time in cycles."""
    mappings: str
    """A YAML file of the mappings, which `map` evaluates again."""
    ending: str
    """What ended the search early: none, time, memory or request (Ctrl-C)."""

    def __init__(self, answer: _native.MapAnswer, ending: str):
        super().__init__(answer.text, answer.json, answer.svg, answer.page)
        self.csv, self.mappings, self.ending = answer.csv, answer.mappings, ending

    @property
    def rows(self) -> list[Row]:
        """A dict per dataflow and layer: energy (in the array's unit), cycles, edp, utilisation (0 to 1), .."""
        return [{"dataflow": run["dataflow"], **layer} for run in self.data["runs"] for layer in run["layers"]]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the table, a row per layer and dataflow. Needs pandas."""
        import io

        import pandas  # type: ignore[import]
        return pandas.read_csv(io.StringIO(self.csv))

    def plot(self, ax: Any = None) -> Any:
        """Bars of energy by layer of the first dataflow, with matplotlib, on `ax` or on new axes; returns the axes."""
        rows = [row for row in self.rows if row["dataflow"] == self.data["runs"][0]["dataflow"]]
        return bars(ax, [row["layer"] for row in rows], [row["energy"] for row in rows],
                    f"energy, {self.data['energy_unit']}")


def map(model: Model | Path, hardware: Path, *, dataflow: str | None = None, time: float | str = 0,
        memory_limit: int | str = 0, objective: str | None = None, batch: int | None = None,
        imperfect: bool | None = None, pareto: bool | None = None, threads: int | None = None,
        progress: Progress = None, **more: Any) -> Mapping:
    """Maps every layer of a model, or of a YAML file of layers, on an array: a preset's name ("eyeriss-256") or a file.
    `dataflow`: names with commas or "all"; empty: free. `time` in seconds or "10min" (0: until proven); `memory_limit`
    in bytes or "2GiB". `progress`: a function that gets a line of text now and then, or whether there is a bar. Ctrl-C
    gives the best mappings so far. `more`: further fields of the request (fuse, unions, pareto_buffer, cache, ..)."""
    question = fill(_native.MapQuestion(), hardware=os.fspath(hardware), dataflow=dataflow, objective=objective,
                    batch=batch, imperfect=imperfect, pareto=pareto, threads=threads_of(threads), **more)
    if isinstance(model, Model):
        question.model = model._file
    elif os.fspath(model).endswith((".yaml", ".yml")):
        question.workload = os.fspath(model)
    else:
        question.model = _native.ModelFile(os.fspath(model))
    with shown(progress, "map") as sink:
        answer, ending, notes = _native.map(question, limits_of(time, memory_limit), prefix, sink)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    answer.raise_missing()
    return Mapping(answer, ending)


class Placement(Report):
    """A dataflow graph on a fabric; `data["best"]` is the mapping: places, times (in clocks) and routes."""

    mapping: str
    """The text of a file that the command and `run` execute on the fabric."""
    ending: str
    """What ended the search early: none, time, memory or request (Ctrl-C)."""
    _rows_at = ("points",)

    def __init__(self, text: str, data: str, svg: str, page: _native.Page, mapping: str, ending: str):
        super().__init__(text, data, svg, page)
        self.mapping, self.ending = mapping, ending

    @property
    def configuration(self) -> str:
        """What the fabric is loaded with. Raises Infeasible where these places have no routes."""
        return _native.configuration(self.mapping)

    def save(self, path: Path) -> None:
        """Writes `mapping` to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.mapping)

    def show(self) -> None:
        """In a notebook the picture and the table; elsewhere the text is printed."""
        try:
            from IPython import get_ipython  # type: ignore[import]
            from IPython.display import display  # type: ignore[import]
        except ImportError:
            print(self.text)
            return
        if get_ipython() is None:
            print(self.text)
        else:
            display(self)

    def plot(self, ax: Any = None) -> Any:
        """Bars of schedule length (clocks) by initiation interval, with matplotlib, on `ax` or on new axes."""
        rows = [row for row in self.rows if row.get("makespan")]
        return bars(ax, [f"II {row['ii']}" for row in rows], [row["makespan"] for row in rows], "clocks")


def place(graph: Path, fabric: Path, *, time: float | str = 0, memory_limit: int | str = 0, ii: str | int | None = None,
          method: str | None = None, objective: str | None = None, seed: int | None = None,
          proof_folder: Path | None = None, threads: int | None = None, progress: Progress = None,
          **more: Any) -> Placement:
    """Places a graph (a file) or an expression ("s = s + x[i]*y[i]") on a fabric: a preset's name ("hycube-4x4") or a
    file. `time` in seconds or "10min" (0: until proven); `memory_limit` in bytes or "2GiB"; `ii`: N, "FIRST..LAST" or
    "auto"; `method`: exact, branch-and-bound, large, list, annealing, evolution, random or rl; `proof_folder` gets the
    formulas and proofs of what is proven. Ctrl-C gives the best so far. Raises Infeasible where there is no mapping."""
    text = os.fspath(graph)
    is_file = "=" not in text or os.path.exists(text)  # every expression assigns something
    question = fill(_native.PlaceQuestion(), fabric=os.fspath(fabric), ii=None if ii is None else str(ii), method=method,
                    objective=objective, seed=seed, threads=threads_of(threads), proof_folder=proof_folder,
                    graph=text if is_file else None, expression=None if is_file else text, **more)
    with shown(progress, "place") as sink:
        return Placement(*_native.place(question, limits_of(time, memory_limit), prefix, sink))
