"""The schemas that the command prints: every shipped file keeps its own, and what the reader refuses for an unknown
field or a wrong type, the schema refuses too."""
import copy
import functools
import json
import os
import pathlib
import random

import jsonschema
import pytest
import yaml
from conftest import ROOT, run

SEED = int(os.environ.get("TILEWRIGHT_SEED", "1"))
CASES = int(os.environ.get("TILEWRIGHT_CASES", "40"))


def preset_kind(path):
    return (yaml.safe_load(path.read_text()).get("kind") or "overlay")


def shipped():
    for path in sorted((ROOT / "hardware").glob("*.yaml")):
        yield preset_kind(path), path
    for path in sorted((ROOT / "hardware/devices").glob("*.yaml")):
        yield "device", path
    for path in sorted((ROOT / "dataflows").glob("*.yaml")):
        yield "dataflow", path
    for path in sorted((ROOT / "models/cgra").glob("*.json")):
        if '"nodes"' in path.read_text():
            yield "graph", path


SHIPPED = list(shipped())
# How the command reads a file of a format; None where it needs more than the file.
READERS = {
    "overlay": ["synth", "{}", "--rtl-only", "-o", "out"],
    "array": ["map", "--workload", "w.yaml", "--hardware", "{}", "--time", "100ms"],
    "fabric": ["place", "--expr", "y = x + 1", "--fabric", "{}", "--time", "100ms"],
    "device": ["study", "rules", "--device", "{}"],
    "dataflow": ["map", "--workload", "w.yaml", "--hardware", "eyeriss-256", "--dataflow", "{}", "--time", "100ms"],
    "graph": ["place", "{}", "--fabric", "streaming-engine", "--ii", "8", "--time", "100ms"],
}


@functools.cache
def schema(name):
    done = run("schema", name)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document)


class Loader(yaml.SafeLoader):
    """YAML 1.2's numbers: 1e-3 is one."""


Loader.add_implicit_resolver("tag:yaml.org,2002:float", __import__("re").compile(
    r"^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$"), list("-+0123456789."))


def load(text):
    """As JSON has it: keys are texts."""
    return json.loads(json.dumps(yaml.load(text, Loader)))


def names():
    return [entry["name"] for entry in json.loads(run("schema", "--json").stdout)["schemas"]]


def test_every_name_gives_a_schema():
    found = names()
    assert len(found) >= 12 and len(set(found)) == len(found)
    for name in found:
        assert schema(name).schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert json.loads(run("schema", name, "--json").stdout)["document"] == schema(name).schema
    assert set(READERS) <= set(found)


@pytest.mark.parametrize("name,path", SHIPPED, ids=lambda value: getattr(value, "stem", value))
def test_shipped_files_keep_their_schema(name, path):
    errors = [f"{list(error.path)}: {error.message[:200]}" for error in schema(name).iter_errors(load(path.read_text()))]
    assert errors == []


def test_written_files_keep_their_schema(files):
    folder = files
    assert schema("mapped-program").is_valid(json.loads((folder / "mapped.json").read_text()))
    (folder / "w.yaml").write_text("name: conv\nconvolution: {input_channels: 4, output_channels: 4, input: 6, kernel: 3}\n")
    assert schema("workload").is_valid(load((folder / "w.yaml").read_text()))
    done = run("map", "--workload", "w.yaml", "--hardware", "eyeriss-256", "-o", "mappings.yaml", folder=folder)
    assert done.returncode == 0, done.stderr
    assert schema("mappings").is_valid(load((folder / "mappings.yaml").read_text()))
    done = run("generate", "lenet.onnx", "--number-type", "q10.22", "--device", "xc7z020", "--no-simulate", "-o", "design",
               folder=folder)
    assert done.returncode == 0, done.stderr
    assert schema("allocation").is_valid(load((folder / "design/allocation.yaml").read_text()))


# What a text must be, which its type does not say.
WITHIN_TEXTS = {"array": ("'some text' is not an integer", "'some text' is not a number"),  # numbers may be expressions
                "dataflow": ("a loop 'dimension: factor'", "a comparison is expected")}


def places(value, path=()):
    yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def changed(document, rng):
    """The document with one unknown field or one value of another type, and what was done."""
    document = copy.deepcopy(document)
    path, value = rng.choice(list(places(document)))
    if isinstance(value, dict) and rng.random() < 0.7 or not path:
        if not isinstance(value, dict):
            return None
        value["no_such_field"] = 1
        return document, f"{path}: unknown field"
    parent = functools.reduce(lambda at, key: at[key], path[:-1], document)
    other = rng.choice([v for v in ([], {}, "some text", True, 7, [[]]) if type(v) is not type(value)])
    parent[path[-1]] = other
    return document, f"{path}: {other!r} for {value!r}"


@pytest.mark.parametrize("name", READERS)
def test_schema_refuses_what_the_reader_refuses(name, tmp_path):
    """Refusals of the reader that speak of a field or a type."""
    (tmp_path / "w.yaml").write_text("name: conv\nconvolution: {input_channels: 4, output_channels: 4, input: 6, kernel: 3}\n")
    rng = random.Random(f"{SEED} {name}")
    originals = [load(path.read_text()) for kind, path in SHIPPED if kind == name]
    by_type = ("unknown field", "is expected", "is not an integer", "is not a number", "is not a list", "is not a string",
               "is no object")
    refused = 0
    for _ in range(CASES):
        change = changed(rng.choice(originals), rng)
        if change is None:
            continue
        document, what = change
        file = tmp_path / f"changed.{'json' if name == 'graph' else 'yaml'}"
        file.write_text(json.dumps(document))
        done = run(*(str(file) if word == "{}" else word for word in READERS[name]), folder=tmp_path)
        if done.returncode == 1 and any(text in done.stderr for text in by_type) and \
                not any(text in done.stderr for text in WITHIN_TEXTS.get(name, ())):
            refused += 1
            assert not schema(name).is_valid(document), (what, done.stderr)
        elif done.returncode == 0:
            assert schema(name).is_valid(document), what
    assert refused >= CASES // 5
