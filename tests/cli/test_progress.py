"""The progress line: on a terminal from the second second on, elsewhere a line every half minute, never on standard
output."""
import os
import pty
import re
import select
import shlex
import subprocess
import time

import pytest
from conftest import TILEWRIGHT

CALL = "tune m.twb --search gbt --trials 1000000 --threads 1 --time {}"


def on_terminal(call, folder):
    """What reaches a terminal as standard error, and standard output apart."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([TILEWRIGHT, *shlex.split(call)], cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        if not select.select([ours], [], [], 60)[0]:
            break
        try:
            data = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        shown += data
    os.close(ours)
    out = process.stdout.read()
    assert process.wait(60) == 0
    return shown.decode(), out.decode()


def test_a_terminal_shows_one_line_that_is_cleared(files):
    shown, out = on_terminal(CALL.format("4s"), files)
    lines = [part for part in shown.split("\r") if part.strip()]
    assert len(lines) >= 2
    assert re.match(r"tuning, 2 s: layer \d+ of \d+, .* trials", lines[0]), lines[0]
    assert all(len(line) <= 100 for line in lines)
    assert "\n" not in shown
    assert shown.rstrip("\r").split("\r")[-1].strip() == ""  # blanks over the last one
    assert "tuning," not in out


def test_quick_commands_show_nothing(files):
    shown, out = on_terminal("inspect lenet.onnx", files)
    assert shown == "" and "MACs" in out


@pytest.mark.slow
def test_a_log_gets_a_line_every_half_minute(files):
    start = time.monotonic()
    done = subprocess.run([TILEWRIGHT, *shlex.split(CALL.format("33s"))], cwd=files, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=True)
    if time.monotonic() - start < 31:
        pytest.skip("every schedule was tried in less than half a minute")
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and re.match(r"tuning, 30 s: layer ", lines[0]), lines
    assert "\r" not in done.stderr
