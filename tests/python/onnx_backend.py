"""The onnx package's own BackendTest through tilewright.backend, held against the list of tests that are not covered.

The runner counts what the backend declines as passed; `Outcomes` sees what really happened. Used by
test_onnx_backend.py and by the figure onnx_backend."""
import os
import pathlib
import re
import unittest

import numpy as np

np.object = object  # onnx 1.12 names it, NumPy 1.24 has it no longer

import onnx  # noqa: E402
import onnx.backend.test  # noqa: E402
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt  # noqa: E402

from tilewright import backend  # noqa: E402

ROOT = pathlib.Path(os.environ.get("TILEWRIGHT_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
CATEGORIES = {"NodeModel": "node", "SimpleModel": "simple", "PyTorchConvertedModel": "pytorch-converted",
              "PyTorchOperatorModel": "pytorch-operator"}  # the others are downloads


def not_covered():
    """{test: reason} of tests/model/onnx_nodes/not_covered.txt, which the C++ runner keeps exact."""
    reasons, reason = {}, ""
    for line in (ROOT / "tests/model/onnx_nodes/not_covered.txt").read_text().splitlines():
        if line.startswith(" "):
            reasons.update({test: reason for test in line.split()})
        elif not line.startswith("#"):
            reason = line.rstrip(":")
    return reasons


class Outcomes(backend.TilewrightBackend):
    """The backend, with the reason of the last refusal."""

    refusal = None

    @classmethod
    def supports_device(cls, device):
        return device == "CPU"

    @classmethod
    def prepare(cls, model, device="CPU", **options):
        cls.refusal = None
        try:
            prepared = super().prepare(model, device, threads=1, **options)
        except BackendIsNotSupposedToImplementIt as error:
            cls.refusal = str(error)
            raise
        run = prepared.run

        def seen(inputs, **more):
            try:
                return run(inputs, **more)
            except BackendIsNotSupposedToImplementIt as error:
                cls.refusal = str(error)
                raise
        prepared.run = seen
        return prepared


def run_all():
    """passed, not_covered: numbers; failures: {test: what is wrong}; refusals: {test: reason}."""
    listed = not_covered()
    runner = onnx.backend.test.BackendTest(Outcomes, __name__)
    passed, failures, refusals, seen = 0, {}, {}, set()
    for category, items in runner.test_cases.items():
        folder = CATEGORIES.get(re.sub("^OnnxBackend|Test$", "", category))
        if folder is None:
            continue
        for case in unittest.defaultTestLoader.loadTestsFromTestCase(items):
            method = case.id().split(".")[-1]
            if not method.endswith("_cpu"):
                continue
            test = folder + "/" + method.removesuffix("_cpu")
            result = unittest.TestResult()
            Outcomes.refusal = None
            case.run(result)
            problems = [text.strip().splitlines()[-1] for _, text in result.errors + result.failures]
            on_purpose = listed.get(test, "").startswith("differs on purpose")
            if problems and on_purpose:
                refusals[test] = listed[test]
            elif problems:
                failures[test] = problems[0]
            elif Outcomes.refusal is None and (test not in listed or on_purpose):
                passed += 1  # bfloat16 too: the runner compares its bits, with a tolerance
            elif Outcomes.refusal is None:
                failures[test] = "passes, but is listed as not covered"
            elif test in listed and not on_purpose:
                refusals[test] = Outcomes.refusal
            else:
                failures[test] = "is declined: " + Outcomes.refusal
            seen.add(test)
    for test in set(listed) - seen:
        failures[test] = "is listed as not covered, but does not exist"
    return passed, failures, refusals
