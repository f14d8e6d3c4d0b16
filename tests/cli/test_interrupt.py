"""Ctrl-C: the first one ends a search with what was found, the second one at once; no process is left behind."""
import json
import os
import pathlib
import random
import shlex
import signal
import subprocess
import time

import pytest
from conftest import TILEWRIGHT, run

SEED = int(os.environ.get("TILEWRIGHT_SEED", "1"))
CASES = int(os.environ.get("TILEWRIGHT_CASES", "3"))
INTERRUPTED = 130
PATIENCE_S = 20  # of a loaded machine

# By verb: a call that takes minutes, and the file that the first Ctrl-C leaves once the search has begun.
CALLS = {
    "map": ("map lenet.onnx --hardware eyeriss-1024 --imperfect -o out.yaml", "out.yaml"),
    "tune": ("tune m.twb --search gbt --trials 1000000 -o out.twb", "out.twb"),
    "tune on workers": ("tune m.twb --search gbt --trials 1000000 --executor local --job-folder jobs -o out.twb",
                        "out.twb"),
    "explore": ("explore lenet.onnx --device xc7z020 --precision 8 --trials 64 -o study", "study/page.html"),
    "place": ("place graph.json --fabric streaming-engine --method annealing --evaluations 1000000000 --ii 8 -o out.json",
              "out.json"),
    "synth": ("synth overlay-tiny --device xc7z020 -o build", "build/rtl"),
    "run": ("run m.twb --input many.npy --engine rtl --rtl-cache cache --output y.npy", "y.npy"),
    "run on the cycle engine": ("run m.twb --input many.npy --engine cycle --output y.npy", "y.npy"),
    "place train": ("place train --graphs graphs --ii 4 --episodes 100000000 -o policy.json", "policy.json"),
}


@pytest.fixture(scope="module")
def folder(files):
    import numpy as np
    np.save(files / "many.npy", np.random.default_rng(1).random((20000, 1, 28, 28), np.float32))
    (files / "graphs").mkdir(exist_ok=True)
    (files / "graphs/graph.json").write_text((files / "graph.json").read_text())
    return files


def started(call, folder):
    return subprocess.Popen([TILEWRIGHT, *shlex.split(call)], cwd=folder, stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def family(process):
    """All processes of the command's session: whoever it started, and whoever they started."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == process.pid and fields[0] != "Z":  # session
            found.append(int(entry.name))
    return found


def nobody_left(process):
    end = time.monotonic() + PATIENCE_S
    while family(process):
        assert time.monotonic() < end, family(process)
        time.sleep(0.05)


def clear(folder, made):
    """Nothing of an earlier call, which this one might take for its own."""
    for name in {made.split("/")[0], "jobs"}:
        subprocess.run(["rm", "-rf", name], cwd=folder, check=True)


@pytest.mark.parametrize("verb", CALLS)
def test_the_first_ends_with_what_was_found(verb, folder):
    call, made = CALLS[verb]
    rng = random.Random(f"{SEED} {verb}")
    for case in range(CASES):
        clear(folder, made)
        process = started(call, folder)
        wait = rng.uniform(0.05, 6)
        try:
            process.wait(wait)
            pytest.fail(f"'{call}' ended by itself: {process.communicate()}")
        except subprocess.TimeoutExpired:
            pass
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
        # Before the search has begun there is nothing to save, and the signal may end the command by itself.
        where = f"{call}\nafter {wait:.2f} s, {time.monotonic() - sent:.2f} s to the end\n{out}\n{err}"
        assert process.returncode in (INTERRUPTED, -signal.SIGINT), where
        if process.returncode == -signal.SIGINT:
            assert wait < 2, where
        elif "tilewright: " not in err:
            assert (folder / made).exists(), where
        assert "internal" not in err, where
        nobody_left(process)


@pytest.mark.parametrize("verb", CALLS)
def test_the_second_ends_at_once(verb, folder):
    call, made = CALLS[verb]
    clear(folder, made)
    process = started(call, folder)
    time.sleep(random.Random(f"{SEED} second {verb}").uniform(0.5, 3))
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)  # a signal that has not been seen yet swallows the next one
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=2)
    assert process.returncode in (INTERRUPTED, -signal.SIGINT)
    nobody_left(process)


def test_json_says_that_it_was_interrupted(folder):
    process = started("tune m.twb --search gbt --trials 1000000 --json", folder)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == INTERRUPTED
    document = json.loads(out)
    assert document["command"] == "tune" and "layers" in document


def test_outputs_of_an_interrupted_run_are_those_of_the_first_inputs(folder):
    import numpy as np
    clear(folder, "y.npy")
    process = started("run m.twb --input many.npy --engine cycle --output y.npy", folder)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == INTERRUPTED, err
    part = np.load(folder / "y.npy")
    assert 0 < len(part) < 20000
    done = run("run", "m.twb", "--input", "many.npy", "--input-count", len(part), "--output", "all.npy", folder=folder)
    assert done.returncode == 0, done.stderr
    assert (np.load(folder / "all.npy") == part).all()
