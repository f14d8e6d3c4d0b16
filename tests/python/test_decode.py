"""A language model token by token: the package gives what the command gives."""
import json

import numpy as np
import pytest
from conftest import ROOT, command

import tilewright as tw


@pytest.fixture(scope="module")
def bundle():
    text = np.fromfile(ROOT / "models/byte-lm/calibration.txt", np.uint8)
    model = tw.load(ROOT / "models/byte-lm/byte_lm.onnx")
    quantized = model.quantize(text[:4 * 256].reshape(4, 256).astype(np.int64), method="min-max")
    return quantized.compile("overlay-16x16", decode=True)


def test_texts_are_those_of_the_command(bundle, tmp_path):
    bundle.save(tmp_path / "lm.twb")
    for options, flags in [({}, []), ({"temperature": 0.7, "top": 9, "seed": 3}, ["--temperature", 0.7, "--top", 9,
                                                                                  "--seed", 3])]:
        found = bundle.decode("And", 12, engine="cycle", verify=True, **options)
        answer = json.loads(command("decode", tmp_path / "lm.twb", "--prompt", "And", "--tokens", 12, "--engine", "cycle",
                                    "--verify", "--json", *flags))
        assert found.data.items() <= answer.items()
        assert len(found.tokens) == 12 and bytes(found.tokens).decode("latin-1") == found.added
        assert bundle.decode(tokens=12, prompt_tokens=list(b"And"), **options).tokens == found.tokens


def test_what_is_wrong_is_an_error(bundle):
    with pytest.raises(tw.InvalidInput, match="there is no prompt"):
        bundle.decode("", 3)
    with pytest.raises(tw.InvalidInput, match="256 positions|positions"):
        bundle.decode("And", 300)
