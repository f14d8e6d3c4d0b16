"""Ctrl-C: the first one ends a search with what was found, the second one at once; no process is left behind."""
import json
import os
import pathlib
import random
import shlex
import signal
import subprocess
import tempfile
import time

import pytest
from conftest import TILEWRIGHT, run

SEED = int(os.environ.get("TILEWRIGHT_SEED", "1"))
CASES = int(os.environ.get("TILEWRIGHT_CASES", "1"))
INTERRUPTED = 130
PATIENCE_S = 100  # of a loaded machine

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


class Started:
    """A command in a session of its own. Its waits count its CPU time, which a loaded machine does not change."""

    def __init__(self, call, folder):
        self.call, self.out, self.err = call, tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([TILEWRIGHT, *shlex.split(call)], cwd=folder, stdin=subprocess.DEVNULL, text=True,
                                        stdout=self.out, stderr=self.err, start_new_session=True)

    def family(self):
        """All processes of the session, whoever started them, each with its CPU time in seconds."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[3]) == self.process.pid and fields[0] != "Z":  # session
                found[int(entry.name)] = sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")
        return found

    def work(self, cpu_s):
        """Returns when the family has worked for so long."""
        end = time.monotonic() + PATIENCE_S
        while sum(self.family().values()) < cpu_s:
            assert self.process.poll() is None, f"'{self.call}' ended by itself: {self.text()}"
            assert time.monotonic() < end, self.call
            time.sleep(0.01)

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self):
        """The exit code; nobody is left behind."""
        code = self.process.wait(PATIENCE_S)
        end = time.monotonic() + PATIENCE_S
        while self.family():
            assert time.monotonic() < end, self.family()
            time.sleep(0.01)
        return code

    def text(self, *files):
        """What it has printed, on standard output and standard error or on the one that is named."""
        found = ""
        for file in files or (self.out, self.err):
            file.seek(0)
            found += file.read()
        return found


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
        command = Started(call, folder)
        worked = rng.uniform(0.02, 3)
        command.work(worked)
        command.interrupt()
        code = command.end()
        where = f"{call}\nafter {worked:.2f} s of CPU\n{command.text()}"
        # Before the search has begun there is nothing to save, and the signal may end the command by itself.
        assert code in (INTERRUPTED, -signal.SIGINT), where
        if code == -signal.SIGINT:
            assert worked < 2, where
        elif "tilewright: " not in command.text():
            assert (folder / made).exists(), where
        assert "internal" not in command.text(), where


@pytest.mark.parametrize("verb", CALLS)
def test_the_second_ends_at_once(verb, folder):
    call, made = CALLS[verb]
    clear(folder, made)
    command = Started(call, folder)
    command.work(random.Random(f"{SEED} second {verb}").uniform(0.5, 2))
    command.interrupt()
    time.sleep(0.3)  # a signal that has not been seen yet swallows the next one
    command.interrupt()
    assert command.end() in (INTERRUPTED, -signal.SIGINT)


def test_a_demo_leaves_nothing(folder):
    rng = random.Random(f"{SEED} demo")
    for case in range(2 + CASES):
        clear(folder, "demo")
        (folder / "demo").mkdir()
        command = Started("demo -o demo/lenet --threads 1", folder)
        command.work(rng.uniform(0.5, 4))
        command.interrupt()
        assert command.end() == INTERRUPTED, command.text()
        assert not list((folder / "demo").iterdir()) and "interrupted" in command.text()


def test_json_says_that_it_was_interrupted(folder):
    command = Started("tune m.twb --search gbt --trials 1000000 --json", folder)
    command.work(1)
    command.interrupt()
    assert command.end() == INTERRUPTED
    document = json.loads(command.text(command.out))
    assert document["command"] == "tune" and "layers" in document


def test_outputs_of_an_interrupted_run_are_those_of_the_first_inputs(folder):
    import numpy as np
    clear(folder, "y.npy")
    command = Started("run m.twb --input many.npy --engine cycle --output y.npy", folder)
    command.work(2)
    command.interrupt()
    assert command.end() == INTERRUPTED, command.text()
    part = np.load(folder / "y.npy")
    assert 0 < len(part) < 20000
    done = run("run", "m.twb", "--input", "many.npy", "--input-count", len(part), "--output", "all.npy", folder=folder)
    assert done.returncode == 0, done.stderr
    assert (np.load(folder / "all.npy") == part).all()
