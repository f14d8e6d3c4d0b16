"""The project's residual and depthwise network through the package: from the file to the simulators."""
import numpy as np
import pytest
from conftest import PIXEL, ROOT

import tilewright as tw


@pytest.mark.parametrize("name", ["residual", "depthwise"])
def test_from_the_file_to_both_simulators(name, images, labels):
    model = tw.load(ROOT / f"models/{name}-fashion/{name}_fashion.onnx")
    bundle = model.quantize(images[:100], scale=PIXEL).compile("overlay-16x16")
    x, classes = images[100:300], labels[100:300]
    exact = bundle.run(x, scale=PIXEL, engine="host")
    for engine in ("functional", "cycle"):
        assert np.array_equal(bundle.run(x, scale=PIXEL, engine=engine), exact), engine
    scores = model.run(x, scale=PIXEL)
    assert (scores.argmax(1) == classes).mean() > 0.85
    assert (exact.argmax(1) == scores.argmax(1)).mean() > 0.9
