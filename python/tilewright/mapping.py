"""Layers on arrays of processing elements, and dataflow graphs on fabrics."""
from __future__ import annotations

import os
from typing import Any, Callable

from . import _native
from ._call import fill, prefix, threads_of
from .bundle import Report
from .model import Model, Path


class Mapping(Report):
    """The mapping of every layer: `data`, `text`, `svg`, `csv`, and `mappings`, a YAML file that `map` evaluates again.
    `ending` says what ended the search early: none, time, memory or request (Ctrl-C)."""

    def __init__(self, answer: _native.MapAnswer, ending: str):
        super().__init__(answer.text, answer.json, answer.svg)
        self.csv: str = answer.csv
        self.mappings: str = answer.mappings
        self.ending = ending

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row per layer and dataflow."""
        import io

        import pandas  # type: ignore[import]
        return pandas.read_csv(io.StringIO(self.csv))


def map(model: Model | Path, hardware: Path, *, dataflow: str | None = None, time: float = 0,
        objective: str | None = None, batch: int | None = None, imperfect: bool | None = None,
        pareto: bool | None = None, threads: int | None = None, progress: Callable[[str], None] | None = None,
        **more: Any) -> Mapping:
    """Maps every layer of a model, or of a YAML file of layers, on an array: a preset's name ("eyeriss-256") or a file.
    `dataflow`: names with commas or "all"; empty: free. `time` in seconds (0: until proven). `progress` gets a line of
    text now and then. Ctrl-C gives the best mappings so far. `more`: further fields of the request (fuse, unions, ..)."""
    question = fill(_native.MapQuestion(), hardware=os.fspath(hardware), dataflow=dataflow, time_s=time,
                    objective=objective, batch=batch, imperfect=imperfect, pareto=pareto, threads=threads_of(threads),
                    **more)
    if isinstance(model, Model):
        question.model = model._file
    elif os.fspath(model).endswith((".yaml", ".yml")):
        question.workload = os.fspath(model)
    else:
        question.model = _native.ModelFile(os.fspath(model))
    answer, ending = _native.map(question, prefix, progress)
    answer.raise_missing()
    return Mapping(answer, ending)


class Placement(Report):
    """A dataflow graph on a fabric: `data`, `text`, `svg`, and `mapping`, the text of a file that the command runs."""

    def __init__(self, text: str, data: str, svg: str, mapping: str, ending: str):
        super().__init__(text, data, svg)
        self.mapping, self.ending = mapping, ending

    def show(self) -> Placement:
        """Prints the text; in a notebook, the result is shown as its picture."""
        print(self.text)
        return self


def place(graph: Path, fabric: Path, *, time: float = 0, ii: str | None = None, method: str | None = None,
          objective: str | None = None, seed: int | None = None, threads: int | None = None, **more: Any) -> Placement:
    """Places a graph (a file) or an expression ("s = s + x[i]*y[i]") on a fabric: a preset's name ("hycube-4x4") or a
    file. `time` in seconds (0: until proven); `method`: exact, branch-and-bound, large, list, annealing, evolution,
    random or rl. Raises Infeasible where there is no mapping."""
    text = os.fspath(graph)
    is_file = "=" not in text or os.path.exists(text)  # every expression assigns something
    question = fill(_native.PlaceQuestion(), fabric=os.fspath(fabric), ii=ii, method=method, objective=objective,
                    seed=seed, threads=threads_of(threads), graph=text if is_file else None,
                    expression=None if is_file else text, **more)
    return Placement(*_native.place(question, time, prefix))
