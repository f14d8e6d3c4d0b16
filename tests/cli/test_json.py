"""--json on every verb: one document on standard output, with the same first members, whether the verb succeeds or not."""
import json
import shlex

import pytest
from conftest import run
from test_help import ALL
from test_schemas import schema

# A call that succeeds, by verb; None: too long for this test, or no answer of its own.
SUCCESS = {
    "demo": "demo --images 2 -o demo",
    "inspect": "inspect lenet.onnx",
    "optimize": "optimize lenet.onnx",
    "quantize": "quantize lenet.onnx --calibration x.npy -o q2.onnx",
    "compile": "compile q.onnx --hardware overlay-16x16",
    "run": "run m.twb --input x.npy --verify",
    "decode": "decode lm.twb --prompt-tokens 1,2 --tokens 3 --engine cycle --verify",
    "compare": "compare lenet.onnx m.twb --input x.npy --input-count 1",
    "report": "report m.twb",
    "explain": "explain m.twb --no-trials",
    "tune": "tune m.twb --search random --trials 2",
    "exec": "exec raw/program.yaml",
    "generate": "generate lenet.onnx --number-type q10.22 --device xc7z020 --no-simulate -o design2",
    "synth": "synth overlay-ice40 --rtl-only -o rtl",
    "map": "map --workload w.yaml --hardware eyeriss-256",
    "place": "place --expr 'y = x + 1' --fabric hycube-4x4",
    "place train": None,
    "place bench": "place bench graph.json --fabric streaming-engine --ii 8 --seeds 1 --time 10ms -o bench",
    "explore": None,
    "study show": None,
    "study front": None,
    "study importance": None,
    "study rules": "study rules --device ice40-hx8k",
    "records best": "records best tune.db",
    "records export": "records export tune.db -o tune.jsonl",
    "records import": "records import other.db tune.jsonl",
    "records merge": "records merge all.db tune.db",
    "records stats": "records stats tune.db",
    "records recover": "records recover tune.db -o saved.db",
    "schema": "schema overlay",
    "doctor": "doctor",
}
LEAVES = [" ".join(verb) for verb in ALL if verb and verb not in (("study",), ("records",))]


@pytest.fixture(scope="module", autouse=True)
def more_files(files):
    (files / "w.yaml").write_text("name: conv\nconvolution: {input_channels: 4, output_channels: 4, input: 6, kernel: 3}\n")
    for call in ("compile q.onnx --hardware overlay-16x16 --emit-raw raw", "records export tune.db -o tune.jsonl"):
        assert run(*shlex.split(call), folder=files).returncode == 0


def checked(call, files):
    done = run(*shlex.split(call), "--json", folder=files)
    document = json.loads(done.stdout)
    assert list(document)[:3] == ["command", "version", "schema"]
    assert schema("answer").is_valid(document)
    assert ("error" in document) == (done.returncode != 0), done.stderr
    return done, document


def test_every_verb_is_here():
    assert set(LEAVES) <= set(SUCCESS)


@pytest.mark.parametrize("verb", [verb for verb, call in SUCCESS.items() if call])
def test_answers_are_documents(verb, files):
    done, document = checked(SUCCESS[verb], files)
    assert done.returncode == 0, done.stderr
    assert document["command"] == verb
    assert len(document) > 3


@pytest.mark.parametrize("verb", LEAVES)
def test_errors_are_documents(verb, files):
    done, document = checked(f"{verb} --no-such-option", files)
    assert done.returncode == 1
    assert document["command"] == verb
    error = document["error"]
    assert error["code"] == 1 and error["kind"] == "invalid input"
    assert any(verb in d["message"] and "--no-such-option" in d["message"] for d in error["diagnostics"])
    assert done.stderr.startswith("tilewright: ") and error["message"] in done.stderr


def test_an_error_after_an_answer_stands_in_the_same_document(files):
    done, document = checked("synth vta-default --device ice40-hx8k", files)
    assert done.returncode == 3 and document["error"]["kind"] == "infeasible"
    done, document = checked("place --expr 'y = x + 1' --fabric line-1 --ii 1", files)
    assert done.returncode in (0, 3)
