"""The ONNX project's backend interface (onnx.backend.base): needs the package onnx.

    from tilewright import backend
    outputs = backend.run_model(onnx.load("model.onnx"), [x])
    prepared = backend.prepare(model, "OVERLAY", hardware="overlay-16x16")

CPU is the host engine, by ONNX's definitions. OVERLAY runs quantised models: the layers that an overlay takes on its
functional engine, bit for bit what its Verilog gives, the others on the host. What is not covered raises
BackendIsNotSupposedToImplementIt with the reason."""
from __future__ import annotations

import contextlib
import os
from typing import Any, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import onnx  # type: ignore[import]
from onnx import helper, mapping
from onnx.backend.base import Backend, BackendRep  # type: ignore[import]
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt  # type: ignore[import]

from . import _native
from ._call import prefix, threads_of
from .errors import Error
from .model import Array, Path

__all__ = ["Prepared", "TilewrightBackend", "is_compatible", "prepare", "run_model", "run_node", "supports_device"]

DEVICES = ("CPU", "OVERLAY")


@contextlib.contextmanager
def declined() -> Iterator[None]:
    """Errors with something unsupported among them become ONNX's."""
    try:
        yield
    except Error as error:
        if not any(problem.kind == "unsupported" for problem in error.diagnostics):
            raise
        raise BackendIsNotSupposedToImplementIt(str(error)) from error


class Prepared(BackendRep):  # type: ignore[misc]
    """A model that is ready to run. `prepare` makes one."""

    def __init__(self, session: _native.OnnxSession):
        self._session = session

    def run(self, inputs: Sequence[npt.ArrayLike] | npt.ArrayLike, **_: Any) -> tuple[Array, ...]:
        """An array per output. `inputs`: an array for each input without initializer, in the model's order, or the only
        one; of the declared types and shapes, where a dynamic dimension takes any size."""
        given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        with declined():
            return tuple(self._session.run([np.asarray(array) for array in given]))


def check_device(device: str) -> None:
    if device not in DEVICES:
        raise ValueError(f"there is no device '{device}': {' or '.join(DEVICES)}")


def ready(model: onnx.ModelProto, device: str, hardware: Path, threads: int | None) -> Prepared:
    overlay = os.fspath(hardware) if device == "OVERLAY" else ""
    with declined():
        return Prepared(_native.OnnxSession(model.SerializeToString(), overlay, threads_of(threads), prefix))


class TilewrightBackend(Backend):  # type: ignore[misc]
    """Tilewright as an ONNX backend."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """True for CPU and OVERLAY."""
        return device in DEVICES

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", *, hardware: Path = "overlay-16x16",
                threads: int | None = None, **_: Any) -> Prepared:
        """A model ready to run. `hardware`: the overlay of the device OVERLAY, a preset's name or a file."""
        check_device(device)
        super().prepare(model, device)
        return ready(model, device, hardware, threads)

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Sequence[npt.ArrayLike] | npt.ArrayLike, device: str = "CPU",
                 outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None, *, hardware: Path = "overlay-16x16",
                 threads: int | None = None, **kwargs: Any) -> tuple[Array, ...]:
        """The outputs of one node. `inputs`: an array for each of its inputs that is not left out, in order.
        `outputs_info`: (type, shape) of each output, where known. `opset_version`: of the node; the newest otherwise."""
        check_device(device)
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        arrays = [np.asarray(x) for x in (inputs if isinstance(inputs, (list, tuple)) else [inputs])]
        names = [name for name in node.input if name]
        if len(arrays) != len(names):
            raise ValueError(f"{len(arrays)} values are given for the {len(names)} inputs of the node")
        kind = mapping.NP_TYPE_TO_TENSOR_TYPE
        infos = [helper.make_tensor_value_info(name, kind[x.dtype], x.shape) for name, x in zip(names, arrays)]
        results = [name for name in node.output if name]
        shapes = [(kind[np.dtype(dtype)], shape) for dtype, shape in outputs_info] if outputs_info else []
        outs = ([helper.make_tensor_value_info(name, *info) for name, info in zip(results, shapes)] if shapes
                else [onnx.ValueInfoProto(name=name) for name in results])
        version = kwargs.get("opset_version", onnx.defs.onnx_opset_version())
        model = helper.make_model(helper.make_graph([node], "node", infos, outs),
                                  opset_imports=[helper.make_opsetid("", version)])
        return ready(model, device, hardware, threads).run(arrays)


prepare = TilewrightBackend.prepare
run_model = TilewrightBackend.run_model
run_node = TilewrightBackend.run_node
supports_device = TilewrightBackend.supports_device
is_compatible = TilewrightBackend.is_compatible
