"""The wheel of make wheel: its content, and that it works in a fresh environment, away from this tree."""
import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import venv
import zipfile

import pytest
from conftest import IMAGES, ROOT

sys.path.insert(0, str(ROOT / "python"))
import wheel_backend  # noqa: E402

BUILD = pathlib.Path(os.environ["PYTHONPATH"].split(":")[0]).parent
USE = """
import gzip, os, sys
import numpy as np
import tilewright as tw
from tilewright import _call, _native
assert tw.__file__.startswith(sys.prefix), tw.__file__
with gzip.open(sys.argv[1] + "/t10k-images-idx3-ubyte.gz") as file:
    images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)
q = tw.load(sys.argv[2]).quantize(images[:20], scale=1 / 255)
b = q.compile("overlay-16x16")
assert (b.run(images[:3], scale=1 / 255) == b.run(images[:3], scale=1 / 255, engine="cycle")).all()
assert b.tune(trials=4, executor="local", jobs=1, job_folder="jobs").ending == "none"
assert tw.map(q, "eyeriss-256", dataflow="rs").rows
assert tw.place("s = s + x[i]*y[i]", "hycube-4x4").ending == "none"
assert tw.place("s = s + x[i]*y[i]", "hycube-4x4", method="rl", ii=2).data
assert q.generate("xc7z020", clock=100).report["cycles"] > 0
assert tw.explore(q, "xc7z020", precision=[8], candidates=3, trials=2, jobs=1).front
assert tw.synth("overlay-16x16", "xc7z020", "rtl", rtl_only=True)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    return folder / wheel_backend.build_wheel(str(folder), {"built": str(BUILD)})


def test_content(wheel):
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    info = f"tilewright-{wheel_backend.version()}.dist-info"
    ours = {f"tilewright/{file.name}" for file in (ROOT / "python/tilewright").glob("*.py*")} | {"tilewright/py.typed"}
    assert ours <= set(files)
    for folder in ("hardware", "rtl", "dataflows", "models/cgra", "models/tune"):
        assert any(name.startswith(f"tilewright/share/tilewright/{folder}/") for name in files), folder
    assert not [name for name in files if "__pycache__" in name or name.startswith("/") or ".." in name]
    lines = files[f"{info}/RECORD"].decode().splitlines()
    recorded = {line.split(",")[0]: line.split(",")[1:] for line in lines}
    assert set(recorded) == set(files)
    for name, (digest, size) in recorded.items():
        if digest:
            expected = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
            assert (digest, int(size)) == ("sha256=" + expected, len(files[name])), name
    assert f"Version: {wheel_backend.version()}\n" in files[f"{info}/METADATA"].decode()


def test_equal_trees_give_equal_wheels(wheel, tmp_path):
    again = tmp_path / wheel_backend.build_wheel(str(tmp_path), {"built": str(BUILD)})
    assert again.read_bytes() == wheel.read_bytes()


def test_in_a_fresh_environment(wheel, tmp_path):
    venv.create(tmp_path / "v", system_site_packages=True, with_pip=True)
    python = tmp_path / "v/bin/python"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TILEWRIGHT"))}
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", wheel], check=True, env=clean)
    # Without this tree, which the extension falls back to: its path in there becomes one that does not exist.
    [extension] = (tmp_path / "v").rglob("_native*.so")
    content, tree = extension.read_bytes(), str(ROOT).encode()
    assert tree in content
    extension.write_bytes(content.replace(tree, b"/" + b"x" * (len(tree) - 1)))
    model = tmp_path / "lenet.onnx"
    model.write_bytes((ROOT / "models/lenet-fashion/lenet_fashion.onnx").read_bytes())
    subprocess.run([python, "-c", USE, IMAGES, model], check=True, cwd=tmp_path, env=clean)
