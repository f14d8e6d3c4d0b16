"""The package and the command give the same answers and the same bits: they call the same functions."""
import json
import re

import numpy as np
import pytest
from conftest import IMAGES, MODEL, PIXEL, answer, command, timeless

import tilewright as tw

SAMPLES = IMAGES / "t10k-images-idx3-ubyte.gz"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The command's quantised model, and its bundle."""
    folder = tmp_path_factory.mktemp("command")
    folder.mkdir(exist_ok=True)
    report = answer("quantize", MODEL, "--calibration", SAMPLES, "--calibration-count", 100,
                    "--calibration-scale", PIXEL, "-o", folder / "q.onnx")
    layers = answer("compile", folder / "q.onnx", "--hardware", "overlay-16x16", "-o", folder / "b.twb")
    return folder, report, layers


def test_inspect(lenet):
    assert lenet.inspect() == answer("inspect", MODEL)
    assert str(lenet) == command("inspect", MODEL)


def test_ports(lenet, quantized, bundle):
    image, scores = tw.Value("image", "f32", (1, 1, 28, 28)), tw.Value("scores", "f32", (1, 10))
    for ported in (lenet, quantized, bundle):
        assert (ported.inputs, ported.outputs) == ([image], [scores])


def test_taken_by(lenet):
    assert lenet.taken_by("overlay=vta-default") == answer("inspect", MODEL, "--on", "overlay=vta-default")


def test_quantize_and_compile(files, quantized, bundle, tmp_path):
    folder, report, layers = files
    assert timeless(quantized.report) == report
    assert timeless(bundle.layers.data) == layers
    bundle.save(tmp_path / "b.twb")
    assert (tmp_path / "b.twb").read_bytes() == (folder / "b.twb").read_bytes()


@pytest.mark.parametrize("engine", ["functional", "host", "cycle"])
def test_run(files, bundle, images, tmp_path, engine):
    folder, _, _ = files
    facts = answer("run", folder / "b.twb", "--input", SAMPLES, "--input-count", 40, "--input-scale", PIXEL, "--engine",
                   engine, "--verify", "--output", tmp_path / "y.npy")
    run = bundle.measure(images[:40], scale=PIXEL, engine=engine, verify=True)
    assert np.array_equal(run.output, np.load(tmp_path / "y.npy"))
    for shown in ("outputs", "top"):  # what the command shows of `run.output`
        facts.pop(shown, None)
    assert timeless(run.facts) == facts
    again = tw.open_bundle(folder / "b.twb").run(images[:40], scale=PIXEL, engine=engine)
    assert np.array_equal(run.output, again)


def test_model_on_host(lenet, images, tmp_path):
    command("run", MODEL, "--input", SAMPLES, "--input-count", 40, "--input-scale", PIXEL, "--output", tmp_path / "y.npy")
    assert np.array_equal(lenet.run(images[:40], scale=PIXEL), np.load(tmp_path / "y.npy"))


def test_report(files, bundle):
    folder, _, _ = files
    assert timeless(bundle.report().data) == answer("report", folder / "b.twb")
    assert bundle.report()._repr_svg_().count("<svg") == 1


def test_map(lenet):
    ours = tw.map(lenet, "eyeriss-256", dataflow="all")
    assert timeless(ours.data) == answer("map", MODEL, "--hardware", "eyeriss-256", "--dataflow", "all")
    assert ours.ending == "none"


def test_place():
    ours = tw.place("s = s + x[i]*y[i]", "hycube-4x4")
    assert timeless(ours.data) == answer("place", "--expr", "s = s + x[i]*y[i]", "--fabric", "hycube-4x4")


def test_pages(files, bundle, lenet, tmp_path):
    """The same data, from another origin."""
    folder, _, _ = files
    cases = [(bundle.report(), ["report", folder / "b.twb"]), (bundle.explain(), ["explain", folder / "b.twb"]),
             (tw.map(lenet, "eyeriss-256", dataflow="rs"), ["map", MODEL, "--hardware", "eyeriss-256", "--dataflow", "rs"]),
             (tw.place("s = s + x[i]*y[i]", "hycube-4x4"),
              ["place", "--expr", "s = s + x[i]*y[i]", "--fabric", "hycube-4x4"])]
    for ours, arguments in cases:
        command(*arguments, "--data", tmp_path / "data.json")
        theirs = json.loads((tmp_path / "data.json").read_text())
        ours.save_page(tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text()
        data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
        origin = data.pop("origin")
        assert origin["version"] == theirs.pop("origin")["version"] and "Python" in origin["command"]
        assert without_seconds(data) == without_seconds(theirs), arguments


def without_seconds(page):
    """Of a page's data; what took how long differs from run to run."""
    for section in page["sections"]:
        kept = [i for i, column in enumerate(section["columns"]) if column["unit"] != "s"]
        section["rows"] = [[row[i] for i in kept] for row in section["rows"]]
    return {**page, "facts": [fact for fact in page["facts"] if fact["unit"] != "s"]}


def test_generate(quantized, images, tmp_path):
    design = quantized.generate("xc7z020", tmp_path / "ours", clock=100)
    quantized_file = tmp_path / "q.onnx"
    command("quantize", MODEL, "--calibration", SAMPLES, "--calibration-count", 100, "--calibration-scale", PIXEL,
            "-o", quantized_file)
    command("generate", quantized_file, "--device", "xc7z020", "--clock", 100, "-o", tmp_path / "theirs")
    for file in sorted((tmp_path / "theirs/rtl").iterdir()):
        assert file.read_bytes() == (tmp_path / "ours/rtl" / file.name).read_bytes(), file.name
    assert design.measure(images[:3], scale=PIXEL).facts["cycles"] > 0
