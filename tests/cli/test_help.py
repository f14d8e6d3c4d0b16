"""--help of every verb: an example, defaults, at most 100 columns."""
import os
import re

import pytest
from conftest import run

GROUPS = ["Begin here", "Prepare a model", "Compile a model for an overlay and run it", "Generate an FPGA design for one model",
          "Map layers and loops onto arrays", "Choose hardware and keep what was measured", "This installation"]


def verbs(*before):
    """All verbs below these, as the help lists them."""
    text = run(*before, "--help").stdout
    for name in re.findall(r"^  ([a-z]+)(?:  |$)", text.split("\nOptions:")[-1], re.MULTILINE):
        yield (*before, name)
        if name in ("study", "records", "place") and not before:
            yield from verbs(name)


ALL = [(), *verbs()]


def test_verbs_are_grouped_by_task():
    text = run("--help").stdout
    places = [text.index(f"\n{group}:\n") for group in GROUPS]
    assert places == sorted(places)
    assert "Subcommands" not in text
    assert len(ALL) >= 30


@pytest.mark.parametrize("verb", ALL, ids=" ".join)
def test_help_fits_a_terminal_and_has_an_example(verb):
    done = run(*verb, "--help")
    assert done.returncode == 0 and done.stderr == ""
    for line in done.stdout.splitlines():
        assert len(line) <= 100, line
    if verb and verb != ("study",):
        assert f"Example:\n  tilewright {' '.join(verb)}" in done.stdout


def test_defaults_and_choices_are_shown():
    text = " ".join(run("tune", "--help").stdout.split())
    assert "[gbt, treegru, evolution, annealing, random] (default: gbt)" in text
    assert "--trials INT Schedules measured per distinct layer [at least 1] (default: 1000)" in text
    assert "[required]" in text


def test_threads_default_to_the_cores():
    """Not a number of the machine that made the manual."""
    asked = 0
    for verb in ALL:
        text = " ".join(run(*verb, "--help").stdout.split())
        asked += "--threads" in text
        assert ("--threads" in text) == ("Number of threads (default: the cores) [1 to 1024]" in text), verb
    assert asked >= 7
    assert os.cpu_count() >= 1
