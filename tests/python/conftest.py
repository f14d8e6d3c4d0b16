"""What the tests of the package share: the project's own LeNet and images of Fashion-MNIST."""
import gzip
import json
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

import tilewright as tw

ROOT = pathlib.Path(os.environ["TILEWRIGHT_SOURCE_DIR"])
MODEL = ROOT / "models/lenet-fashion/lenet_fashion.onnx"
IMAGES = pathlib.Path("/usr/share/datasets/fashion-mnist")
PIXEL = 1 / 255


def idx(name):
    data = gzip.open(IMAGES / name).read()
    shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def command(*arguments):
    """What the command prints."""
    return subprocess.run([os.environ["TILEWRIGHT"], *map(str, arguments)], check=True, capture_output=True,
                          text=True).stdout


def timeless(value):
    """Without what differs from run to run; the seconds of the host's model are the same in each."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if k in ("host_seconds", "crossing_seconds") or not re.search("seconds|_s$", k)}
    return [timeless(v) for v in value] if isinstance(value, list) else value


def answer(*arguments):
    """The command's JSON, without its first members; the items where it is a list."""
    document = json.loads(command(*arguments, "--json"))
    for member in ("command", "version", "schema"):
        del document[member]
    return timeless(document["items"] if list(document) == ["items"] else document)


@pytest.fixture(scope="session")
def images():
    return idx("t10k-images-idx3-ubyte.gz")


@pytest.fixture(scope="session")
def labels():
    return idx("t10k-labels-idx1-ubyte.gz")


@pytest.fixture(scope="session")
def lenet():
    return tw.load(MODEL)


@pytest.fixture(scope="session")
def quantized(lenet, images):
    return lenet.quantize(images[:100], scale=PIXEL)


@pytest.fixture(scope="session")
def bundle(quantized):
    return quantized.compile("overlay-16x16")
