"""Runs test programs that contain mutants: once to note which test reaches which mutant, then each mutant with
the tests that reach it."""

import os
import resource
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field

MEMORY_BYTES = 4 << 30
# The allocator's own checks: what is written one place too far is noticed, what was never written is not zero.
ALLOCATOR = "libc_malloc_debug.so.0"
CHECKED = {"LD_PRELOAD": ALLOCATOR, "MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"}
AT_FIRST_MS = 1500  # the fastest tests that reach a mutant, up to this time, go first, then those up to four times it


@dataclass
class Test:
    name: str
    milliseconds: int
    reaches: set


@dataclass
class Program:
    name: str
    path: object
    filter: str = ""
    tests: list = field(default_factory=list)


def run(path, arguments, variables, cpu_seconds, wall_seconds):
    """The exit code; None when it ran too long. Each run has a temporary folder of its own."""
    folder = tempfile.mkdtemp(prefix="mutant_run_")

    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    environment = dict(os.environ, TMPDIR=folder, TEST_TMPDIR=folder, OMP_WAIT_POLICY="passive", **CHECKED, **variables)
    process = subprocess.Popen([str(path), *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limits,
                               start_new_session=True)
    try:
        return process.wait(wall_seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def record(program, work):
    """Fills in the program's tests that pass without a mutant, with what they reach; returns what goes wrong."""
    reached, lines = work / f"{program.name}.reached", work / f"{program.name}.record"
    reached.write_bytes(bytes(1 << 16))
    lines.write_text("")
    code = run(program.path, [f"--gtest_filter={program.filter or '*'}"], {"TILEWRIGHT_MUTANTS_REACHED": str(reached), "TILEWRIGHT_MUTANTS_RECORD": str(lines)}, 1500, 1800)
    always, wrong = set(), []
    for line in lines.read_text().splitlines():
        name, milliseconds, outcome, *numbers = line.split()
        if name == "*":
            always = set(map(int, numbers))
        elif outcome == "passed":
            program.tests.append(Test(name, int(milliseconds), set(map(int, numbers)) | always))
        elif outcome == "failed":
            wrong.append(f"{name} fails without a mutant, not used")
    if code not in (0, 1):
        wrong.append(f"ends with {code} after {len(program.tests)} tests: those behind are not used")
    return wrong


def caught(program, number):
    """Whether the program's tests notice the mutant: those that reach it, or all where one alone does, for what is
    worked out there may be kept for those behind it."""
    reaching = [t for t in program.tests if number in t.reaches]
    tests = sorted(program.tests if len(reaching) == 1 else reaching, key=lambda t: t.milliseconds)
    parts, total, limit = [[]], 0, AT_FIRST_MS
    for test in tests:
        total += test.milliseconds
        while total > limit and parts[-1]:
            parts.append([])
            limit *= 4
        parts[-1].append(test)
    return any(part and _fails(program, number, part) for part in parts)


def _fails(program, number, tests):
    usual = sum(t.milliseconds for t in tests) / 1000
    with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
        flags.write("--gtest_filter=" + ":".join(t.name for t in tests) + "\n")
        flags.flush()
        variables = {"TILEWRIGHT_MUTANT": str(number)} if number is not None else {}
        code = run(program.path, [f"--gtest_flagfile={flags.name}", "--gtest_fail_fast", "--gtest_brief=1"], variables,
                   int(10 + 6 * usual), int(60 + 20 * usual))
    return code != 0
