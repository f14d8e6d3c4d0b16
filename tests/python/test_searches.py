"""Tuning, exploration and what is learned from them; limits, progress, Ctrl-C; all as the command gives it."""
import json
import math
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import MODEL, PIXEL, ROOT, answer, command, timeless
from test_errors import long_layer

import tilewright as tw
from tilewright import _progress


@pytest.fixture(scope="module")
def bundle_file(bundle, tmp_path_factory):
    file = tmp_path_factory.mktemp("bundle") / "b.twb"
    bundle.save(file)
    return file


@pytest.fixture(scope="module")
def study(lenet, tmp_path_factory):
    return tw.explore(lenet, "xc7z020", precision=[8, 4], candidates=3, trials=3,
                      folder=tmp_path_factory.mktemp("study") / "s", jobs=1)


def without_paths(value):
    return json.loads(json.dumps(timeless(value)))


def test_tune_equals_the_command(bundle, bundle_file, tmp_path):
    ours = bundle.tune(trials=40, seed=3, records=tmp_path / "ours.db")
    theirs = answer("tune", bundle_file, "--trials", 40, "--seed", 3, "--records", tmp_path / "theirs.db",
                    "-o", tmp_path / "theirs.twb")
    assert without_paths(ours.data) == without_paths(theirs) and ours.ending == "none"
    ours.bundle.save(tmp_path / "ours.twb")
    assert (tmp_path / "ours.twb").read_bytes() == (tmp_path / "theirs.twb").read_bytes()
    assert [len(curve) for curve in ours.curves] == [row["trials"] for row in ours.rows]
    for row, curve in zip(ours.rows, ours.curves):
        assert curve == sorted(curve, reverse=True) and curve[-1] >= row["bound_cycles"]
    again = tw.tune(bundle_file, trials=40, seed=3, records=tmp_path / "ours.db")
    assert sum(row["from_records"] for row in again.rows) == sum(row["trials"] for row in again.rows)
    # the records, with the command's answers
    assert tw.records.stats(tmp_path / "ours.db").data["records"] > 0
    assert tw.records.best(tmp_path / "ours.db").text == command("records", "best", tmp_path / "ours.db")
    count = tw.records.write(tmp_path / "ours.db", tmp_path / "r.jsonl.gz")
    assert tw.records.read(tmp_path / "new.db", tmp_path / "r.jsonl.gz") == (count, [(str(tmp_path / "r.jsonl.gz"), count)])
    assert tw.records.merge(tmp_path / "new.db", tmp_path / "ours.db").files[0][1] == 0
    assert tw.records.recover(tmp_path / "ours.db", tmp_path / "saved.db") == count


def test_tuning_on_worker_processes(bundle, tmp_path):
    here = bundle.tune(trials=8, search="random", layers=["conv1_1"])
    there = bundle.tune(trials=8, search="random", layers=["conv1_1"], executor="local", jobs=2,
                        job_folder=tmp_path / "jobs")
    assert without_paths(here.data) == without_paths(there.data)


def test_explore_equals_the_command(study, tmp_path):
    theirs = answer("explore", MODEL, "--device", "xc7z020", "--precision", "8,4", "--candidates", 3, "--trials", 3,
                    "--jobs", 1, "-o", tmp_path / "s")
    assert timeless(study.data["widths"][0]["candidates"]) == timeless(theirs["widths"][0]["candidates"])
    assert study.ending == "none" and len(study.front) > 0 and all(row["on_front"] for row in study.front)
    assert {row["operand_bits"] for row in study.rows} == {8, 4}
    assert tw.study(study.folder).data == study.data
    latencies = [row["latency_s"] for row in study.front if row["operand_bits"] == 8]
    assert latencies == sorted(latencies)


def test_explore_continues_and_takes_bundles(bundle, study):
    again = tw.explore(bundle, "xc7z020", precision=[8], candidates=3, trials=3, folder=study.folder, jobs=1)
    assert again.data["widths"][0]["known"] == 3
    fresh = tw.explore(bundle, "xc7z020", precision=[8], candidates=3, trials=2, jobs=1)
    assert 1 <= len(fresh.rows) <= 3


def test_importance():
    data = ROOT / "models/tune/implementation_ice40.jsonl.gz"
    found = tw.importance(data, ["lut"])
    assert found.data == answer("study", "importance", data, "--target", "lut")
    shares = [row["share"] for row in found.rows if row["precision"] == found.rows[0]["precision"]]
    assert math.isclose(sum(shares), 1, rel_tol=1e-3) and "tilewright-data" in found.page
    assert tw.rules("ice40-hx8k").text == command("study", "rules", "--device", "ice40-hx8k")


def test_explain_and_compare_equal_the_command(lenet, bundle, bundle_file, images, tmp_path):
    np.save(tmp_path / "x.npy", images[:1])
    assert bundle.explain().data == answer("explain", bundle_file)
    theirs = answer("compare", MODEL, bundle_file, "--input", tmp_path / "x.npy", "--input-scale", PIXEL)
    ours = bundle.compare(lenet, images[:1], scale=PIXEL)
    assert timeless(ours.data) == theirs and not ours.faults


def test_optimize_and_graph_table(lenet, tmp_path):
    assert lenet.optimize(tmp_path / "o.onnx").text == command("optimize", MODEL)
    assert tw.load(tmp_path / "o.onnx").inputs == lenet.inputs
    assert lenet.graph_table().data == answer("optimize", MODEL, "--table")


def test_synth_writes_verilog(tmp_path):
    report = tw.synth("overlay-16x16", "xc7z020", tmp_path / "rtl", rtl_only=True)
    assert report.text and any((tmp_path / "rtl").rglob("*.sv"))


# Searches that take minutes: of schedules, of overlays and of mappings.
LONG = {
    "tune": lambda model, bundle, folder, time, progress: bundle.tune(trials=1000000, time=time, progress=progress),
    "explore": lambda model, bundle, folder, time, progress: tw.explore(
        model, "xc7z020", budget=time, trials=64, jobs=1, progress=progress),
    "map": lambda model, bundle, folder, time, progress: tw.map(
        long_layer(folder), "eyeriss-256", imperfect=True, pareto=True, time=time, progress=progress),
}


@pytest.mark.parametrize("search", LONG)
def test_time_ends_searches(lenet, bundle, tmp_path, search):
    # The first overlays that an exploration tries fit no network, and each takes a second on a busy machine.
    found = LONG[search](lenet, bundle, tmp_path, "20s" if search == "explore" else "2s", None)
    assert found.ending == "time" and found.data


@pytest.mark.parametrize("search", LONG)
def test_interrupt_keeps_the_best(lenet, bundle, tmp_path, search):
    lines = []

    # Two seconds after the first line of progress: the search has begun, and on a busy machine has found something.
    interrupt = threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT))

    def interrupt_once(line):
        lines.append(line)
        if len(lines) == 1:
            interrupt.start()

    found = LONG[search](lenet, bundle, tmp_path, 0, interrupt_once)
    assert found.ending == "request" and found.data and lines


@pytest.mark.parametrize("limits", [{"time": "soon"}, {"time": -1}, {"memory_limit": "1M"}, {"memory_limit": "lots"},
                                    {"memory_limit": 5}])
def test_words_that_are_no_limits(lenet, limits):
    with pytest.raises(tw.InvalidInput):
        tw.map(lenet, "eyeriss-256", **limits)


def test_memory_limits(tmp_path):
    layer = long_layer(tmp_path)
    with pytest.raises(tw.Infeasible, match="stopped before it found a mapping"):
        tw.map(layer, "eyeriss-256", imperfect=True, pareto=True, memory_limit="64M")  # Python alone takes more
    assert tw.map(layer, "eyeriss-256", imperfect=True, pareto=True, memory_limit=1 << 40, time=1).ending == "time"


def test_proofs_are_written(tmp_path):
    tw.place("s = s + x[i]*y[i]", "hycube-4x4", proof_folder=tmp_path / "proofs")
    assert any((tmp_path / "proofs").iterdir())


def test_placements_run(tmp_path):
    placed = tw.place("o[i] = x[i]*y[i] + 3", "hycube-4x4", routed=True)
    placed.save(tmp_path / "p.json")
    x = np.array([[2, 5], [7, 1], [4, 4]], np.int32)
    assert tw.run(tmp_path / "p.json", x, engine="fabric").outputs["o"].tolist()[:3] == [13, 10, 19]
    with pytest.raises(tw.InvalidInput):
        tw.run(tmp_path / "p.json", x, engine="fabric", scale=2)
    assert placed.configuration


def test_pictures_and_tables(lenet, bundle, study):
    import matplotlib
    matplotlib.use("Agg")
    mapped = tw.map(lenet, "eyeriss-256", dataflow="rs")
    tuned = bundle.tune(trials=5)
    placed = tw.place("s = s + x[i]*y[i]", "hycube-4x4")
    for report in (mapped, tuned, study, bundle.report(), placed):
        assert len(report.to_pandas()) == len(report.rows) > 0
        assert len(report.plot().get_children()) > 0
        assert "<table>" in report._repr_html_()
    assert "<table>" in lenet._repr_html_() and "No problems" in lenet._repr_html_()
    assert "conv1" in lenet._repr_html_() and "288,000" in lenet._repr_html_()


def test_show_prints_outside_of_notebooks(capsys):
    placed = tw.place("s = s + x[i]*y[i]", "hycube-4x4")
    assert placed.show() is None
    assert capsys.readouterr().out == placed.text + "\n"


def test_callbacks_get_lines(bundle):
    lines = []
    bundle.tune(trials=200, search="random", progress=lines.append)
    assert lines and all(isinstance(line, str) for line in lines)


TERMINAL = """
import os, pty, sys, time
main, child = pty.openpty()
saved = os.dup(2); os.dup2(child, 2)
{hide}
from tilewright import _progress
_progress._DELAY_S = 0.1
with _progress.shown({progress}, "title") as sink:
    if sink is not None:
        for i in range(8):
            sink("step %d" % i, {share})
            time.sleep(0.1)
os.set_blocking(main, False)
try: text = os.read(main, 100000)
except BlockingIOError: text = b""
os.dup2(saved, 2)
sys.stdout.write(text.decode())
"""


@pytest.mark.parametrize("hide, progress, share, shown", [
    ("", "None", "i / 8", True),
    ("sys.modules['tqdm'] = sys.modules['tqdm.auto'] = None", "None", "i / 8", True),
    ("", "None", "None", True),
    ("", "False", "i / 8", False),
])
def test_a_bar_in_a_terminal(hide, progress, share, shown):
    code = TERMINAL.format(hide=hide, progress=progress, share=share)
    out = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, check=True).stdout
    assert ("title" in out and "step" in out) == shown
    if shown and share != "None":
        assert "%" in out


def test_silence_without_a_terminal(capfd, bundle):
    assert not _progress.watched()
    bundle.tune(trials=50, search="random")
    assert capfd.readouterr() == ("", "")
