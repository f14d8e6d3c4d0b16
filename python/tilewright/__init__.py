"""Tilewright: from a trained network and a silicon budget to a verified accelerator and its program.

    import tilewright as tw
    q = tw.load("model.onnx").quantize(images)
    b = q.compile("overlay-16x16")
    y = b.run(x, engine="cycle")

Long calls release Python's lock; Ctrl-C ends a search with the best that it has."""
from ._native import __version__
from .bundle import Bundle, Report, open_bundle
from .design import Design
from .errors import Diagnostic, Error, Infeasible, InternalError, InvalidInput, Unsupported
from .mapping import Mapping, Placement, map, place
from .model import Model, QuantizedModel, Run, Value, load

__all__ = ["Bundle", "Design", "Diagnostic", "Error", "Infeasible", "InternalError", "InvalidInput", "Mapping",
           "Model", "Placement", "QuantizedModel", "Report", "Run", "Unsupported", "Value", "load", "map",
           "open_bundle", "place", "__version__"]
