"""Models: read from a file, quantised, compiled and run."""
from __future__ import annotations

import html
import json
import os
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import numpy.typing as npt

from . import _native
from ._call import fill, limits_of, prefix, threads_of
from ._progress import Progress, shown
from ._samples import Preprocess, Samples, samples_of, source_of
from .report import Report, table

if TYPE_CHECKING:
    from .bundle import Bundle
    from .design import Design

Path = str | os.PathLike[str]
Array = npt.NDArray[Any]


class Value(NamedTuple):
    """An input or output: its name, element type ("f32", "i8", ..) and shape."""

    name: str
    """As in the model."""
    type: str
    """f32, f16, i8, u8, .."""
    shape: tuple[int, ...]
    """Sizes of its axes; the batch, where there is one, is axis 0."""


class Run:
    """What a run gave."""

    outputs: dict[str, Array]
    """By name: the outputs of all samples, stacked along axis 0."""
    classes: list[int]
    """By sample: the index of the largest element of output 0; empty where that has no elements."""
    text: str
    """What ran, and how it compares with the reference."""
    facts: dict[str, Any]
    """The same as the command's --json: inputs, seconds and, of a timed engine, cycles and counters."""

    def __init__(self, report: _native.RunReport):
        report.raise_disagreement()
        self.outputs, self.classes, self.text = report.outputs, report.classes, report.text
        self.facts = json.loads(report.json)

    @property
    def output(self) -> Array:
        """The only output. A model of several has `outputs`."""
        if len(self.outputs) != 1:
            raise ValueError(f"the model has {len(self.outputs)} outputs: {', '.join(self.outputs)}; take them from outputs")
        return next(iter(self.outputs.values()))

    def __repr__(self) -> str:
        return self.text


def run_request(x: Samples, engine: str, scale: float, preprocess: Preprocess, verify: bool, threads: int | None,
                memory: str | None = None, trace: Path | None = None) -> _native.RunRequest:
    return fill(_native.RunRequest(), input=samples_of(x, scale, preprocess), verify=verify,
                engine=fill(_native.EngineRequest(), name=engine, memory=memory, trace=trace),
                threads=threads_of(threads))


class Ported:
    """What has inputs and outputs."""

    def __init__(self, ports: _native.Graph | _native.Bundle):
        self._ports = ports

    @property
    def inputs(self) -> list[Value]:
        """Inputs in the model's order."""
        return [Value(*value) for value in self._ports.inputs]

    @property
    def outputs(self) -> list[Value]:
        """Outputs in the model's order."""
        return [Value(*value) for value in self._ports.outputs]


class Model(Ported):
    """A network as Tilewright holds it. `load` reads one."""

    problems: list[str]
    """What the reader tolerated in the file, and warned of; empty where all is well."""

    def __init__(self, graph: _native.Graph, path: str, problems: list[str] | None = None):
        super().__init__(graph)
        self._graph, self._path, self.problems = graph, path, problems or []

    @property
    def _file(self) -> _native.ModelFile:
        return _native.ModelFile(self._path, self._graph)

    @property
    def name(self) -> str:
        """The file's name."""
        return os.path.basename(os.path.normpath(self._path))

    def inspect(self) -> dict[str, Any]:
        """Operators with their shapes, multiply-accumulates, parameters and bytes."""
        return dict(json.loads(_native.inspect(self._graph)[1]))

    def graph_table(self) -> Report:
        """What reading and simplifying leaves of the graph, stage by stage; `rows` has a dict per stage."""
        return Stages(*_native.graph_table(self._graph))

    def optimize(self, output: Path | None = None, *, dump_folder: Path | None = None) -> Report:
        """Runs the graph passes, writes the simplified model as ONNX to `output`, and the graph after each pass to
        `dump_folder`; reports what each pass removed."""
        return Report(*_native.optimize(self._file, os.fspath(output or ""), os.fspath(dump_folder or "")))

    def taken_by(self, machine: str) -> dict[str, Any]:
        """Which nodes a machine takes, and why not the others; "overlay=vta-default", "design=xc7z020",
        "array=eyeriss-256"."""
        return dict(json.loads(_native.taken_by(self._file, machine, prefix)[1]))

    def quantize(self, images: Samples | None = None, *, scale: float = 1.0, preprocess: Preprocess = None,
                 number_type: str = "int8",
                 weight_bits: int | None = None, activation_bits: int | None = None,
                 weight_group: int | None = None, scales: str | None = None,
                 method: str | None = None, corrections: str | None = None, per_tensor: bool | None = None,
                 symmetric: bool | None = None, integer_borders: bool | None = None,
                 mixed: str | None = None, target_db: float | None = None, mean_bits: float | None = None,
                 keep_float: list[str] | None = None,
                 states: dict[str, str] | None = None,
                 evaluation: Samples | None = None, labels: npt.ArrayLike | os.PathLike[str] | None = None,
                 output: Path | None = None, format: str | None = None, threads: int | None = None,
                 progress: Progress = None) -> QuantizedModel:
        """The model in integers (QDQ), calibrated on `images` (samples as in `measure`), or in fixed point
        (number_type "q10.22"). Its accuracy is measured on `evaluation`, or else on the images;
        `labels` are class numbers of those samples. `output` also writes an ONNX file, `format` as for
        `QuantizedModel.save`. `scales`: real or power-of-two; `method`: best (of several, by what is
        left of the values), layer-error, squared-error, min-max, percentile or kl;
        `corrections`: some of bias, rounding and equalize, separated by commas, or none;
        `weight_group`: so many consecutive weights of an output share a factor, for fewer than 8 bits;
        `mixed`: bits that the weights of a layer may have, "4,8", with 16 also activations, chosen within
        `target_db`, the outputs' least signal to noise, or `mean_bits` of a weight;
        `keep_float`: names of nodes that stay in float, * for any characters;
        `symmetric`: zero points of activations are 0; `integer_borders`: the model takes and gives 8-bit
        integers, whose scales the report states; `states`: which output each recurrent input takes at the next
        sample, {"h0": "hn"} (docs/guides/recurrent.md)."""
        request = fill(_native.QuantizeRequest(), model=self._file, number_type=number_type, weight_bits=weight_bits,
                       activation_bits=activation_bits, weight_group=weight_group, scales=scales, method=method, corrections=corrections,
                       per_tensor=per_tensor, symmetric=symmetric, integer_borders=integer_borders, states=states,
                       mixed=mixed, target_db=target_db, mean_bits=mean_bits, keep_float=keep_float,
                       format=format, threads=threads_of(threads))
        if images is not None:
            request.calibration = samples_of(images, scale, preprocess)
        if evaluation is not None:
            request.evaluation = samples_of(evaluation, scale, preprocess)
        if labels is not None:
            request.labels = source_of(labels)
        if output is not None:
            request.output = output
        with shown(progress, "quantize") as sink:
            graph, text, report = _native.quantize(request, sink)
        return QuantizedModel(graph, self._path, text, json.loads(report))

    def compile(self, hardware: Path, *, records: list[Path] | None = None, no_records: bool | None = None,
                memory: str | None = None, states: dict[str, str] | None = None, decode: bool | None = None,
                progress: Progress = None) -> Bundle:
        """A bundle for an overlay: a preset's name ("overlay-16x16") or a description's file. The model must be
        quantised. `records`: files of tuned schedules, besides those that come with Tilewright. `states`: as for
        `quantize`; the bundle keeps them. `decode`: of a language model, a program for one token, for
        `Bundle.decode`."""
        from .bundle import Bundle
        request = fill(_native.CompileRequest(), hardware=os.fspath(hardware), records=records, no_records=no_records,
                       memory=memory, states=states, decode=decode)
        with shown(progress, "compile") as sink:
            return Bundle(_native.compile(self._graph, self._path, request, prefix, sink))

    def generate(self, device: str, output: Path | None = None, *, clock: float | None = None, budget: str | None = None,
                 images: Samples | None = None, scale: float = 1.0, preprocess: Preprocess = None,
                 objective: str | None = None,
                 form: str | None = None, number_type: str | None = None, weight_bits: int | None = None,
                 activation_bits: int | None = None, memory: str | None = None, simulate: bool | None = None,
                 allocation: Path | None = None, time: float | str = 0, memory_limit: int | str = 0,
                 threads: int | None = None, progress: Progress = None) -> Design:
        """A design in Verilog for a device (a preset's name or a file), in the folder `output`, or in a temporary one
        that lives as long as the result. `clock` in MHz, `time` in seconds or "10min" (0: no limit), `memory_limit` in
        bytes or "2GiB". A float model needs `images` (samples as in `measure`) to be quantised on.
        `budget`: "dsp=100,lut=20000"; `allocation`: a file that replaces the search."""
        from .design import Design, Folder
        folder = Folder(output)
        question = fill(_native.DesignQuestion(), model=self._file, device=device, budget=budget, clock_mhz=clock,
                        objective=objective, form=form, number_type=number_type, weight_bits=weight_bits,
                        activation_bits=activation_bits, memory=memory, simulate=simulate, output=folder.path,
                        allocation=allocation, threads=threads_of(threads))
        if images is not None:
            question.calibration = samples_of(images, scale, preprocess)
        with shown(progress, "generate") as sink:
            return Design(folder, _native.generate(question, limits_of(time, memory_limit), prefix, sink))

    def measure(self, x: Samples, *, scale: float = 1.0, preprocess: Preprocess = None, threads: int | None = None,
                progress: Progress = None) -> Run:
        """Runs samples on the host. `x`: an array with the samples along axis 0, multiplied by `scale`; a file (.npy, idx,
        .npz, PNG, JPEG, WAV); a folder of pictures or sounds; for several inputs a dict of these by name, or an .npz.
        `preprocess` says what is done to pictures and sounds: {"resize": 256, "crop": 224, "scale": "1/255"}, the same
        as text, or a YAML file (docs/guides/samples.md)."""
        request = run_request(x, "host", scale, preprocess, False, threads)
        request.model = self._file
        with shown(progress, "run") as sink:
            return Run(_native.run(request, prefix, sink))

    def run(self, x: Samples, **options: Any) -> Array:
        """The only output of `measure`, with its options: the samples' outputs stacked along axis 0."""
        return self.measure(x, **options).output

    def __str__(self) -> str:
        return _native.inspect(self._graph)[0]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self._graph.nodes} nodes>"

    def _repr_html_(self) -> str:
        rows = [{"node": node["name"], "operator": node["op"], "inputs": shapes(node.get("inputs", [])),
                 "outputs": shapes(node["outputs"]), "multiply-accumulates": node["macs"],
                 "parameters": node["parameters"], "bytes": node["bytes"]} for node in self.inspect()["nodes"]]
        problems = "".join(f"<li>{html.escape(problem)}</li>" for problem in self.problems)
        return (f"<p><b>{html.escape(self.name)}</b>: {html.escape(shapes(self.inputs))} to "
                f"{html.escape(shapes(self.outputs))}</p>{table(rows)}"
                + (f"<p>Problems of the file:</p><ul>{problems}</ul>" if problems else "<p>No problems.</p>"))


class Stages(Report):
    """What reading and simplifying leaves of a graph; `rows` has a dict per stage."""

    _rows_at = ("stages",)


class QuantizedModel(Model):
    """A quantised model. `Model.quantize` makes one."""

    text: str
    """Its accuracy for people."""
    report: dict[str, Any]
    """Samples, accuracy and agreement with the float model, share of the work in integers (0 to 1)."""

    def __init__(self, graph: _native.Graph, path: str, text: str, report: dict[str, Any]):
        super().__init__(graph, path)
        self.text, self.report = text, report

    def save(self, path: Path, *, format: str = "qdq") -> None:
        """Writes an ONNX file: "qdq" (QuantizeLinear and DequantizeLinear), which every ONNX runtime runs, or "qonnx"
        (Quant), which Brevitas, FINN and hls4ml exchange. `load` reads both, to the same integers."""
        _native.write_quantized(os.fspath(path), self._graph, format)


def shapes(values: list[Any]) -> str:
    """"image f32 [1, 1, 28, 28]" of inputs or outputs, as values or as inspect() gives them."""
    parts = [value if isinstance(value, dict) else value._asdict() for value in values]
    return ", ".join(f"{part['name']} {part['type']} {list(part['shape'])}" for part in parts)


def load(path: Path, *, dimensions: dict[str, int] | None = None, feeds: dict[str, Sequence[int]] | None = None,
         fill_gain: float | None = None, allow_missing_weights: bool | None = None, signature: str | None = None,
         output_nodes: list[str] | None = None, keep_arg_max: bool | None = None,
         tflite_kernels: bool | None = None) -> Model:
    """Reads ONNX, a TensorFlow GraphDef or SavedModel (its folder), TFLite, or the text form of a graph. `dimensions`
    gives symbolic dimensions their sizes; `fill_gain` fills a model without weights with pseudo-random ones. Of
    TensorFlow only: `feeds`, nodes that become inputs, with their shapes (empty: the file's); `signature`, which of a
    SavedModel's states inputs and outputs (serving_default); `output_nodes`; `keep_arg_max`. Of TFLite only: `tflite_kernels`, the bits of its built-in
    kernels and TFLite Micro instead of its runtime's."""
    options = fill(_native.LoadOptions(), dimensions=dimensions, feeds=feeds, fill_gain=fill_gain,
                   allow_missing_weights=allow_missing_weights, signature=signature, output_nodes=output_nodes,
                   keep_arg_max=keep_arg_max, tflite_kernels=tflite_kernels)
    graph, notes = _native.load(os.fspath(path), options)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return Model(graph, os.fspath(path), notes)
