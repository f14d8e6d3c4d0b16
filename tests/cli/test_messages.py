"""Typical mistakes, what the command says about them, and its exit code: messages.txt. TILEWRIGHT_UPDATE=1 writes the
file anew; then read it."""
import json
import os
import pathlib
import shlex

import numpy as np
import onnx
import pytest
from conftest import made, run

GOLDEN = pathlib.Path(__file__).parent / "messages.txt"

MISTAKES = {
    "the command itself": [
        "",
        "mpa lenet.onnx",
        "quantise lenet.onnx -o q2.onnx",
        "--json inspect lenet.onnx",
        "--thread 2",
        "doctor now",
        "help",
    ],
    "prepare a model": [
        "inspect",
        "inspect letnet.onnx",
        "inspect x.npy",
        "inspect lenet.onnx --on overly=overlay-16x16",
        "inspect lenet.onnx --text --json",
        "inspect lenet.onnx --shape batch",
        "inspect lenet.onnx --feed input",
        "inspect lenet.onnx --tflite-kernels",
        "optimize lenet.onnx --table -o o.onnx",
        "optimize lenet.onnx -o lenet.onnx",
        "quantize lenet.onnx --calibraton x.npy -o q2.onnx",
        "quantize lenet.onnx -o q2.onnx",
        "quantize lenet.onnx --calibration small.npy -o q2.onnx",
        "quantize lenet.onnx --calibration x.npy --weight-bits 9 -o q2.onnx",
        "quantize lenet.onnx --number-type q10.21 -o q2.onnx",
        "quantize lenet.onnx --number-type q10.22 --per-tensor -o q2.onnx",
        "quantize lenet.onnx --calibration x.npy --method min_max -o q2.onnx",
        "quantize lenet.onnx --calibration x.npy --mean-bits 6 -o q2.onnx",
        "quantize lenet.onnx --calibration x.npy --mixed 4,8 -o q2.onnx",
        "quantize lenet.onnx --calibration x.npy --mixed 4,x --mean-bits 6 -o q2.onnx",
        "quantize lenet.onnx --calibration x.npy --weight-group 32 -o q2.onnx",
        "quantize lenet.onnx --calibration x.npy --weight-bits 4 --weight-group 0 -o q2.onnx",
        "quantize lenet.onnx --calibration x.npy --keep-float conv9 -o q2.onnx",
        "quantize lenet.onnx --calibration x.npy --mixed 4,8 --mean-bits 6 --weight-bits 4 -o q2.onnx",
        "quantize lenet.onnx --calibration x.npy --format qonn -o q2.onnx",
    ],
    "compile for an overlay and run": [
        "compile lenet.onnx --hardware overlay-16x16",
        "compile q.onnx",
        "compile q.onnx --hardware overlay-16x61",
        "compile q.onnx --hardware bad.yaml",
        "compile q.onnx --hardware broken.yaml",
        "compile q.onnx --hardware overlay-16x16 --no-records --records tune.db",
        "run m.twb",
        "run m.twb --input x.npy --input-count 9",
        "run m.twb --input x.npy --engine cycel",
        "run m.twb --input x.npy --memory ddr",
        "run m.twb --input x.npy --wave w.fst",
        "run half.twb --input x.npy",
        "run lenet.onnx --input x.npy --engine rtl",
        "run lenet.onnx --input x.npy --energy",
        "run m.twb --input x.npy --engine cycle --energy",
        "run m.twb --input x.npy --engine rtl --energy --wave w.fst",
        "run m.twb --input x.npy --engine rtl --energy --energy-costs toggel=1,dram=x,memory=-1",
        "run m.twb --input x.npy --energy-costs dram=2",
        "run m.twb --input-scale 2",
        "run mapped.json --engine cycle",
        "compare lenet.onnx m.twb",
        "report q.onnx",
        "report m.twb --memory dddr",
        "explain m.tbw",
        "exec nowhere.yaml",
        "exec m.twb",
    ],
    "continue a text": [
        "compile lm.txt --decode --hardware overlay-16x16",
        "compile q.onnx --decode --hardware overlay-16x16",
        "compile two.onnx --decode --hardware overlay-16x16",
        "compile any_length.onnx --decode --hardware overlay-16x16",
        "compile all_seen.onnx --decode --hardware overlay-16x16",
        "compile lm.onnx --decode --hardware overlay-16x16 --emit-raw raw",
        "decode m.twb --prompt hello",
        "decode lm.twb",
        "decode lm.twb --prompt ''",
        "decode lm.twb --prompt abba",
        "decode lm.twb --prompt-tokens 3,-1,16",
        "decode lm.twb --prompt-tokens 3,x",
        "decode lm.twb --prompt a --prompt-tokens 3",
        "decode lm.twb --prompt-tokens 3,4 --tokens 9",
        "decode lm.twb --prompt-tokens 0,1,2,3,4,5,6,7,8 --tokens 1",
        "decode lm.twb --prompt-tokens 3 --tokens 0",
        "decode lm.twb --prompt-tokens 3 --tokens 2 --top 4",
        "decode lm.twb --prompt-tokens 3 --tokens 2 --temperature -1",
        "decode lm.twb --prompt-tokens 3 --tokens 2 --temperature 1 --top 2.5",
        "decode lm.twb --prompt-tokens 3 --tokens 2 --engine onnx",
        "decode lm.twb --prompt-tokens 3 --tokens 2 --memory ddr",
        "decode lm.onnx --prompt-tokens 3",
        "decode lm.twb --promt a",
        "run lm.twb --input tokens.npy",
    ],
    "tune": [
        "tune m.twb --search evoluton",
        "tune m.twb --trials 0",
        "tune m.twb --layer conv11",
        "tune m.twb --time 5x",
        "tune m.twb --search random --batch 8",
        "tune m.twb --executor slurm --partition",
        "tune m.twb --executor local",
    ],
    "generate a design": [
        "generate lenet.onnx -o design",
        "generate lenet.onnx --device xc7z02 -o design",
        "generate lenet.onnx --device xc7z020 -o design",
        "generate lenet.onnx --device xc7z020 --number-type q10.22 --budget dps=8 -o design",
        "generate lenet.onnx --device xc7z020 --number-type q10.22 --clock 0 -o design",
        "generate lenet.onnx --device xc7z020 --number-type q10.22 --form pipelined -o design",
        "synth overlay-ice40",
        "synth overlay-ice41 --device ice40-hx8k",
        "synth vta-default --device ice40-hx8k",
        "synth overlay-ice40 --rtl-only --clock 50 -o rtl",
        "synth overlay-tiny --device xc7z020 --timeout 0",
    ],
    "map layers": [
        "map",
        "map lenet.onnx",
        "map lenet.onnx --hardware eyeris-256",
        "map lenet.onnx --hardware eyeriss-256 --dataflow rss",
        "map lenet.onnx --hardware eyeriss-256 --batch 0",
        "map lenet.onnx --hardware eyeriss-256 --equal-area",
        "map lenet.onnx --hardware eyeriss-256 --objective enrgy",
        "map lenet.onnx --hardware overlay-16x16",
    ],
    "place loops": [
        "place graph.json",
        "place --expr 's = s + sqart(x)' --fabric hycube-4x4",
        "place --expr 's = s + ' --fabric hycube-4x4",
        "place --expr 's = s + x' --fabric hycub-4x4",
        "place --expr 's = s + x' --fabric hycube-4x4 --method exakt",
        "place --expr 's = s + x' --fabric hycube-4x4 --samples 8",
        "place --expr 's = s + x' --fabric hycube-4x4 --ii 3-5",
        "place graph.json --fabric streaming-engine --routed --places-only",
        "place graph.json --expr 's = s + x' --fabric streaming-engine",
    ],
    "choose hardware": [
        "explore lenet.onnx --device xc7z020",
        "explore lenet.onnx --device xc7z020 --precision 3 -o study",
        "explore lenet.onnx --device xc7z020 --budget 2d -o study",
        "study shwo study",
        "study",
        "study show empty",
        "study rules --device xc7z02",
        "study importance empty --target lutt",
    ],
    "records": [
        "records",
        "records bst tune.db",
        "records best nowhere.db",
        "records best m.twb",
        "records best tune.db --memory ddr",
        "records export tune.db --json",
        "records recover tune.db -o tune.db",
    ],
}
CALLS = [call for calls in MISTAKES.values() for call in calls]


@pytest.fixture(scope="module", autouse=True)
def language_files(files):
    """A network of two inputs, and the language model for texts of any length."""
    (files / "two.txt").write_text('graph "two"\ninput %0 "a": f32[1x4]\ninput %1 "b": f32[1x4]\n'
                                   'node "sum" Add(%0, %1) -> (%2 "c": f32[1x4])\noutput %2\n')
    numbers = np.random.default_rng(1).random((4, 4), np.float32)
    np.savez(files / "two.npz", a=numbers, b=1 - numbers)
    made("quantize", "two.txt", "--calibration", "two.npz", "-o", "two.onnx", folder=files)
    model = onnx.load(files / "lm.onnx")
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[1].dim_param = "length"
    del model.graph.value_info[:]
    onnx.save(model, files / "any_length.onnx")


def said(call, folder):
    done = run(*shlex.split(call), folder=folder)
    assert "--json" in call or done.stdout == "", (call, done.stdout)
    return f"$ tilewright {call}\n{done.stderr}exit {done.returncode}\n"


def test_messages_are_the_golden_ones(files):
    text = ""
    for title, calls in MISTAKES.items():
        text += f"== {title} ==\n\n" + "".join(said(call, files) + "\n" for call in calls)
    if os.environ.get("TILEWRIGHT_UPDATE"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()
    assert len(CALLS) >= 60


@pytest.mark.parametrize("call", CALLS)
def test_each_problem_says_what_to_do(call, files):
    words = shlex.split(call)
    done = run(*words, *([] if "--json" in words else ["--json"]), folder=files)
    assert done.returncode in (1, 2, 3), (call, done.stderr)
    error = json.loads(done.stdout)["error"]
    assert error["code"] == done.returncode
    for diagnostic in error["diagnostics"]:
        assert diagnostic["hint"], (call, diagnostic["message"])
        assert "--json" in words or diagnostic["message"] in done.stderr


TYPOS = {
    "inspcet lenet.onnx": "inspect",
    "complie q.onnx": "compile",
    "expolre lenet.onnx": "explore",
    "place bnech": "bench",
    "records mrege a.db b.db": "merge",
    "study importence study": "importance",
    "quantize lenet.onnx --calibratoin x.npy": "--calibration",
    "run m.twb --inptu x.npy": "--input",
    "map lenet.onnx --hardwear eyeriss-256": "--hardware",
    "tune m.twb --serch gbt": "--search",
    "compile q.onnx --hardware overlay-16x15": "overlay-16x16",
    "compile q.onnx --hardware vta-defualt": "vta-default",
    "map lenet.onnx --hardware eyeris-256": "eyeriss-256",
    "generate lenet.onnx -o d --device xc7z02": "xc7z020",
    "synth overlay-ice40 --device ice40hx8k": "ice40-hx8k",
    "place --expr 's = s + x' --fabric streaming-engin": "streaming-engine",
    "map lenet.onnx --hardware eyeriss-256 --dataflow osd": "osa",
    "place --expr 's = selct(x, y, z)' --fabric hycube-4x4": "select",
    "run m.twb --input x.npy --engine functinal": "functional",
    "tune m.twb --search anealing": "annealing",
    "tune m.twb --layer conv2-1": "conv2_1",
    "place --expr 's = s + x' --fabric hycube-4x4 --method anealing": "annealing",
    "compile q.onnx --hardware bad.yaml": "block_out",
}


@pytest.mark.parametrize("call", TYPOS)
def test_typos_get_the_right_suggestion(call, files):
    done = run(*shlex.split(call), folder=files)
    assert done.returncode == 1
    assert f"did you mean '{TYPOS[call]}'?" in done.stderr, done.stderr
