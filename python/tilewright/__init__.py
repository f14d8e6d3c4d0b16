"""Tilewright: from a trained network and a silicon budget to a verified accelerator and its program.

    import tilewright as tw
    q = tw.load("model.onnx").quantize(images)
    b = q.compile("overlay-16x16")
    y = b.run(x, engine="cycle")

Long calls release Python's lock; Ctrl-C ends a search with the best that it has. `tilewright.backend` is the ONNX
project's interface, `tilewright.records` works on databases of measured trials."""
from . import records
from ._native import __version__
from .bundle import Bundle, Comparison, Decoded, Timing, open_bundle
from .design import Design
from .errors import Diagnostic, Error, Infeasible, InternalError, InvalidInput, Unsupported
from .hardware import execute, run, synth
from .mapping import Mapping, Placement, map, place
from .model import Model, QuantizedModel, Run, Value, load
from .report import Report
from .tuning import Importance, Study, Tuning, explore, importance, rules, study, tune

__all__ = ["Bundle", "Comparison", "Decoded", "Design", "Diagnostic", "Error", "Importance", "Infeasible", "InternalError",
           "InvalidInput", "Mapping", "Model", "Placement", "QuantizedModel", "Report", "Run", "Study", "Timing",
           "Tuning", "Unsupported", "Value", "execute", "explore", "importance", "load", "map", "open_bundle", "place",
           "records", "rules", "run", "study", "synth", "tune", "__version__"]
