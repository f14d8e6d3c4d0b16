"""Every public name says what it is: docstrings, types of parameters and results, documented fields. Messages name the
keywords of this package."""
import ast
import importlib
import inspect
import re
import typing

import pytest
from conftest import ROOT

import tilewright as tw
from tilewright import errors

MODULES = ["tilewright", "tilewright.backend", "tilewright.records"]
FILES = sorted((ROOT / "python/tilewright").glob("*.py"))


def public_members():
    """(name, object) of every public function, class, method and property."""
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")]):
            member = getattr(module, name)
            if not getattr(member, "__module__", "").startswith("tilewright"):
                continue
            yield f"{module_name}.{name}", member
            if inspect.isclass(member):
                for inner, value in vars(member).items():
                    if not inner.startswith("_") and (inspect.isfunction(value)
                                                      or isinstance(value, (property, classmethod))):
                        yield f"{module_name}.{name}.{inner}", value


def function_of(member):
    if isinstance(member, property):
        return member.fget
    return member.__func__ if isinstance(member, (classmethod, staticmethod)) or inspect.ismethod(member) else member


def test_every_public_name_has_a_docstring():
    members = list(public_members())
    assert len(members) > 80
    without = [name for name, member in members if not (inspect.getdoc(function_of(member)) or "").strip()]
    assert not without


def test_every_parameter_and_result_is_typed():
    untyped = []
    for name, member in public_members():
        function = function_of(member)
        if inspect.isclass(function):
            function = function.__dict__.get("__init__")
        if not inspect.isfunction(function):
            continue
        signature = inspect.signature(function)
        untyped += [f"{name}({parameter.name})" for parameter in signature.parameters.values()
                    if parameter.name not in ("self", "cls") and parameter.annotation is parameter.empty]
        if not isinstance(member, type) and signature.return_annotation is signature.empty:
            untyped.append(f"{name} ->")
    assert not untyped


def test_every_public_field_is_documented():
    """A field is declared in its class, with a docstring below; what __init__ sets besides is private."""
    problems = []
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                continue
            declared = set()
            for field, below in zip(node.body, node.body[1:] + [None]):
                if isinstance(field, ast.AnnAssign) and not field.target.id.startswith("_"):
                    declared.add(field.target.id)
                    if not (isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)):
                        problems.append(f"{file.name}: {node.name}.{field.target.id} is not documented")
            for target in ast.walk(node):
                if (isinstance(target, ast.Attribute) and isinstance(target.ctx, ast.Store)
                        and isinstance(target.value, ast.Name) and target.value.id == "self"
                        and not target.attr.startswith("_")):
                    known = {name for cls in getattr(tw, node.name, object).__mro__ for name in vars(cls)} | {
                        name for cls in getattr(tw, node.name, object).__mro__
                        for name in getattr(cls, "__annotations__", {})}
                    if target.attr not in declared | known:
                        problems.append(f"{file.name}: {node.name}.{target.attr} is not declared")
    assert not problems


def test_arrays_and_numbers_state_shapes_and_units():
    """Who takes samples says along which axis; who takes a time, a clock or a size says in what."""
    words = {"x": "axis 0|first sample|An array", "time": "seconds", "budget": "seconds|dsp=", "timeout": "seconds",
             "clock": "MHz", "memory_limit": "bytes", "threshold_db": "dB|_db"}
    missing = []
    for name, member in public_members():
        function = function_of(member)
        if not inspect.isfunction(function):
            continue
        for parameter in inspect.signature(function).parameters:
            text = inspect.getdoc(function) or ""
            if parameter in words and not re.search(words[parameter], text) and "of `measure`" not in text:
                missing.append(f"{name}({parameter})")
    assert not missing


def keywords():
    """All keywords of public functions, and the fields of the requests that take further ones."""
    names = set()
    for _, member in public_members():
        function = function_of(member)
        if inspect.isfunction(function):
            names |= set(inspect.signature(function).parameters)
    for request in (tw._native.MapQuestion, tw._native.PlaceQuestion):
        names |= {name for name in vars(request) if not name.startswith("_")}
    return names


# Of the command only: these files and listings are fields and methods of results here.
COMMAND_ONLY = {"labels", "wave", "energy", "counters", "hardware", "emit_raw", "emit_assembly", "cache_folder",
                "engine", "timeloop", "json", "record", "bits_for", "widths"}


def test_messages_name_keywords_that_exist():
    """Every option that the library's messages name becomes a keyword of this package."""
    options = {}
    for folder in ("flow", "frontend", "graph", "transform", "quantize", "pipeline", "base", "overlay/execute",
                   "spatial", "hardware"):
        for file in (ROOT / "src/tilewright" / folder).rglob("*.cpp"):
            if file.stem.endswith("_test") or file.name in ("device.cpp", "demo.cpp", "board_files.cpp"):
                continue  # options of other tools; commands for a shell
            for text in re.findall(r'"((?:[^"\\]|\\.)*)"', file.read_text()):
                for option in re.findall(r"(?<![\w-])--(?!help)[a-z][a-z-]*[a-z]", text):
                    options.setdefault(errors.in_python(option), f"{file.name}: {text}")
    assert len(options) > 30
    unknown = {name: where for name, where in options.items() if name not in keywords() | COMMAND_ONLY}
    assert not unknown


@pytest.mark.parametrize("text, ours", [
    ("give an array with --calibration", "give an array with images"),
    ("give each a size: --shape data.0=N --shape b=N",
     "give each a size: dimensions={'data.0': N} dimensions={'b': N}"),
    ("give its shape: --feed x=1x...", "give its shape: feeds={'x': [1, ]}"),
    ("--pareto and --fuse search the free mapspace", "pareto and fuse search the free mapspace"),
    ("tilewright place --help shows an example", "help(tilewright.place) shows an example"),
    ("a--b and a -- b and -x stay", "a--b and a -- b and -x stay"),
])
def test_options_become_keywords(text, ours):
    assert errors.in_python(text) == ours


def test_hints_of_errors_name_keywords(lenet, tmp_path):
    with pytest.raises(tw.InvalidInput) as caught:
        lenet.quantize()
    assert "images" in caught.value.diagnostics[0].hint and "--" not in str(caught.value)
    assert typing.get_type_hints(tw.Diagnostic)["hint"] is str
