"""The build backend of pyproject.toml (PEP 517): CMake builds the extension and lays the package out, with the presets and
Verilog that it reads at run time; this file packs it. It uses Python's own library alone: pip builds in an environment
without Debian's packages and would download any other backend."""
from __future__ import annotations

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).parents[1]
EPOCH = (1980, 1, 1, 0, 0, 0)  # of all files: equal contents give equal wheels

Settings = dict[str, str] | None


def version() -> str:
    """Of the project in CMakeLists.txt."""
    found = re.search(r"project\(Tilewright VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert found
    return found[1]


def metadata() -> str:
    """The text of METADATA (core metadata 2.1)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version()}",
             f"Summary: {project['description']}", f"License: {project['license']['text']}",
             f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {needed}" for needed in project["dependencies"]]
    for extra, needed in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}"] + [f'Requires-Dist: {name}; extra == "{extra}"' for name in needed]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / project["readme"]).read_text()]
    return "\n".join(lines)


def lay_out(build: pathlib.Path, folder: pathlib.Path) -> None:
    """The package as it is installed, below `folder`."""
    command = ["cmake", "--install", build, "--component", "wheel", "--prefix", folder, "--strip"]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)


def extension_tag(folder: pathlib.Path) -> str:
    """"cp311-cp311-linux_x86_64" of the extension there, which must be this interpreter's."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    extensions = [file.name for file in (folder / "tilewright").glob("_native*.so")]
    if extensions != ["_native" + suffix]:
        sys.exit(f"CMake built {extensions or 'no extension'}, but this Python needs _native{suffix}: use Debian's "
                 "/usr/bin/python3, with python3-dev and pybind11-dev (scripts/install-deps package)")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def pack(folder: pathlib.Path, tag: str, wheel: pathlib.Path) -> None:
    """A wheel of the files below `folder`, with its metadata and record."""
    files = {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
    info = f"tilewright-{version()}.dist-info"
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tilewright\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = ""
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(content)}\n"
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD", EPOCH), record + f"{info}/RECORD,,\n", zipfile.ZIP_DEFLATED)


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Called by pip; returns the wheel's file name. config_settings["built"]: a CMake build folder whose extension is
    ready; without it, build/release is configured and built."""
    build = pathlib.Path((config_settings or {}).get("built") or ROOT / "build/release")
    if not (config_settings or {}).get("built"):
        if not (build / "CMakeCache.txt").exists():
            subprocess.run(["cmake", "--preset", "release", f"-DPython3_EXECUTABLE={sys.executable}"], cwd=ROOT, check=True)
        jobs = str(len(os.sched_getaffinity(0)))
        subprocess.run(["cmake", "--build", str(build), "--target", "tilewright_python", "-j", jobs], check=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lay_out(build, folder)
        tag = extension_tag(folder)
        wheel = f"tilewright-{version()}-{tag}.whl"
        pack(folder, tag, pathlib.Path(wheel_directory, wheel))
    return wheel


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Called by `python3 -m build`; the files that git knows, as a .tar.gz; returns its name."""
    name = f"tilewright-{version()}"
    path = pathlib.Path(sdist_directory, name + ".tar.gz")
    subprocess.run(["git", "archive", f"--prefix={name}/", "-o", str(path), "HEAD"], cwd=ROOT, check=True)
    return path.name
