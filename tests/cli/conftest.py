"""What the tests of the command share: the command, and a folder with small files of every kind."""
import os
import pathlib
import shutil
import subprocess

import language_model
import numpy as np
import pytest

ROOT = pathlib.Path(os.environ["TILEWRIGHT_SOURCE_DIR"])
TILEWRIGHT = os.environ["TILEWRIGHT"]
FABRIC_GRAPH = ROOT / "models/cgra/ifft.json"


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than ten seconds")


def run(*arguments, folder=None, environment=None, timeout=120):
    """The finished command; its output streams apart."""
    return subprocess.run([TILEWRIGHT, *map(str, arguments)], cwd=folder, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})}, timeout=timeout)


def made(*arguments, folder):
    done = run(*arguments, folder=folder)
    assert done.returncode == 0, (arguments, done.stderr)
    return done


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """lenet.onnx, q.onnx, m.twb, x.npy, labels.npy, mapped.json, tune.db; lm.onnx, lm.twb: named the same in every
    run."""
    folder = tmp_path_factory.mktemp("command")
    shutil.copy(ROOT / "models/lenet-fashion/lenet_fashion.onnx", folder / "lenet.onnx")
    np.save(folder / "x.npy", np.random.default_rng(1).random((8, 1, 28, 28), np.float32))
    np.save(folder / "labels.npy", np.arange(8) % 10)
    np.save(folder / "small.npy", np.zeros((3, 1, 20, 20), np.float32))
    shutil.copy(FABRIC_GRAPH, folder / "graph.json")
    made("quantize", "lenet.onnx", "--calibration", "x.npy", "-o", "q.onnx", folder=folder)
    made("compile", "q.onnx", "--hardware", "overlay-16x16", "-o", "m.twb", folder=folder)
    made("place", "--expr", "s = s + x[i]*y[i]", "--fabric", "hycube-4x4", "-o", "mapped.json", folder=folder)
    made("tune", "m.twb", "--search", "random", "--trials", 2, "--records", "tune.db", folder=folder)
    (folder / "lm.txt").write_text(language_model.graph())
    (folder / "all_seen.txt").write_text(language_model.graph(causal=False))
    np.save(folder / "tokens.npy", language_model.random_texts(8))
    for name in ("lm", "all_seen"):
        made("quantize", f"{name}.txt", "--calibration", "tokens.npy", "-o", f"{name}.onnx", folder=folder)
    made("compile", "lm.onnx", "--decode", "--hardware", "overlay-16x16", "-o", "lm.twb", folder=folder)
    half = (folder / "m.twb").read_bytes()
    (folder / "half.twb").write_bytes(half[:len(half) // 2])
    (folder / "bad.yaml").write_text("name: bad\nisa: vta\nbatch: 3\nblock_in: 16\nblok_out: 16\n")
    (folder / "broken.yaml").write_text("name: [unclosed\n")
    (folder / "empty").mkdir()
    return folder
