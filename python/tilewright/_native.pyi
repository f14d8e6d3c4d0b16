"""The library's side of the package (src/tilewright/python/module.cpp)."""
from typing import Any, Callable

import numpy.typing as npt

_Array = npt.NDArray[Any]
_Values = list[tuple[str, str, tuple[int, ...]]]

__version__: str

class Graph:
    name: str
    nodes: int
    inputs: _Values
    outputs: _Values

class LoadOptions: ...

class ModelFile:
    def __init__(self, path: str, graph: Graph | None = None) -> None: ...

class SampleFile: ...

class QuantizeRequest:
    calibration: SampleFile
    evaluation: SampleFile
    labels: SampleFile
    output: Any

class CompileRequest: ...
class EngineRequest: ...

class RunRequest:
    model: ModelFile

class RunReport:
    outputs: dict[str, _Array]
    classes: list[int]
    text: str
    json: str
    def raise_disagreement(self) -> None: ...

class Bundle:
    hardware: str
    inputs: _Values
    outputs: _Values
    layers: tuple[str, str]
    def write(self, path: str) -> None: ...
    def timing(self, memory: str) -> tuple[str, str, str]: ...
    def run(self, request: RunRequest, prefix: str) -> RunReport: ...

class MapQuestion:
    model: ModelFile
    workload: str

class MapAnswer:
    text: str
    json: str
    csv: str
    svg: str
    mappings: str
    def raise_missing(self) -> None: ...

class PlaceQuestion: ...

class DesignQuestion:
    calibration: SampleFile

def samples(array: _Array, scale: float = ...) -> SampleFile: ...
def load(path: str, options: LoadOptions) -> tuple[Graph, list[str]]: ...
def inspect(graph: Graph) -> tuple[str, str]: ...
def graph_text(graph: Graph) -> str: ...
def taken_by(model: ModelFile, machine: str, prefix: str) -> tuple[str, str]: ...
def quantize(request: QuantizeRequest) -> tuple[Graph, str, str]: ...
def compile(graph: Graph, path: str, request: CompileRequest, prefix: str) -> Bundle: ...
def read_bundle(path: str, hardware: str, prefix: str) -> Bundle: ...
def run(request: RunRequest, prefix: str) -> RunReport: ...
def map(question: MapQuestion, prefix: str, progress: Callable[[str], None] | None) -> tuple[MapAnswer, str]: ...
def place(question: PlaceQuestion, time: float, prefix: str) -> list[str]: ...
def generate(question: DesignQuestion, time: float, prefix: str) -> list[str]: ...
