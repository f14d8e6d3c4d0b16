"""Samples as callers give them: arrays, files, folders, and several of these by input."""
from __future__ import annotations

import json
import os
from typing import Any, Mapping

import numpy as np
import numpy.typing as npt

from . import _native

Samples = npt.ArrayLike | os.PathLike[str] | Mapping[str, npt.ArrayLike | os.PathLike[str]]
Preprocess = str | os.PathLike[str] | Mapping[str, Any] | None


def source_of(given: npt.ArrayLike | os.PathLike[str]) -> npt.NDArray[Any] | str:
    """A path, or else an array."""
    return os.fspath(given) if isinstance(given, (str, os.PathLike)) else np.asarray(given)


def words_of(preprocess: Preprocess) -> str:
    """The steps as the command takes them: "resize=256,crop=224", a file's name, or a map in braces."""
    if preprocess is None:
        return ""
    if not isinstance(preprocess, Mapping):
        return os.fspath(preprocess)
    return json.dumps(dict(preprocess), default=lambda value: np.asarray(value).tolist())


def samples_of(given: Samples, scale: float = 1.0, preprocess: Preprocess = None) -> _native.SampleRequest:
    """Samples of a model's only input, or by input; `scale` multiplies arrays, `preprocess` is for pictures and sounds."""
    inputs = given.items() if isinstance(given, Mapping) else [("", given)]
    return _native.samples([(name, source_of(value)) for name, value in inputs], scale, words_of(preprocess))
