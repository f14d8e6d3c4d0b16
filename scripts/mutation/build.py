"""Compiles mutated sources beside an existing build, and links the module's test programs with them. The commands
are those of the build itself; neither its folder nor the sources are written to."""

import json
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sites import planted, with_mutants

HERE = Path(__file__).resolve().parent
# Faults that only look at memory that is not theirs are noticed too; warnings about mutants are of no use.
EXTRA = ["-w", "-O1", "-D_GLIBCXX_ASSERTIONS", "-fmax-errors=0"]


class Build:
    def __init__(self, root, folder, work, jobs):
        self.root, self.folder, self.work, self.jobs = root, folder.resolve(), work, jobs
        entries = json.loads((self.folder / "compile_commands.json").read_text())
        self.commands, self.by_object = {}, {}
        for entry in entries:  # a source may be compiled into several targets
            source, words = Path(entry["file"]).resolve(), shlex.split(entry["command"])
            self.commands[str(source)] = words
            self.by_object[words[words.index("-o") + 1]] = source
        if any(Path(source).parent.name == "Unity" for source in self.commands):
            raise SystemExit(f"mutants: {folder} compiles rooms, not files: make build PRESET=files")
        self.launcher = [p for p in [shutil.which("ccache")] if p]
        self.links = {}
        self.support = {name: self._support(name) for name in ("switch", "record")}

    def _support(self, name):
        result = self.work / f"{name}.o"
        subprocess.run(["c++", "-std=c++20", "-O2", "-fPIC", "-c", str(HERE / f"{name}.cpp"), "-o", str(result)], check=True)
        return result

    # The arguments that compile `source` as the build does, less what names its input and output.
    def _arguments(self, source):
        words = self.commands[str(source)]
        at = words.index("-o")
        at_input = words.index("-c")
        kept = [w for i, w in enumerate(words) if i not in (at, at + 1, at_input, at_input + 1) and w != "-Werror"]
        return kept, words[at + 1]

    def compile(self, source, text, stem, extra=()):
        """Returns the object, or the compiler's messages."""
        arguments, _ = self._arguments(source)
        copy, result = self.work / f"{stem}.cpp", self.work / f"{stem}.o"
        copy.write_text(text)
        command = self.launcher + arguments + EXTRA + ["-iquote", str(source.parent), *extra, "-o", str(result), "-c", str(copy)]
        run = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        return (result, None) if run.returncode == 0 else (None, run.stderr)

    def with_switches(self, source, chosen):
        """The object of a source with as many of the mutants (number, Mutant) as compile, and their numbers."""
        text, stem = source.read_text(), "_".join(source.relative_to(self.root).with_suffix("").parts[2:])
        while True:
            body, kept = with_mutants(text, chosen)
            chosen = [c for c in chosen if c[0] in kept]
            if not chosen:
                return None, []
            result, messages = self.compile(source, body, stem, ["-include", str(HERE / "mutant.h")])
            if result:
                return result, chosen
            lines = {int(n) for n in re.findall(re.escape(f"{stem}.cpp") + r":(\d+)", messages)}
            left = [c for c in chosen if not any(c[1].line <= n <= c[1].last_line for n in lines)]
            chosen = left if len(left) < len(chosen) else chosen[:len(chosen) // 2]

    def alone(self, source, mutant, stem):
        return self.compile(source, planted(source.read_text(), mutant), stem)[0]

    def objects(self, mutants_by_source):
        """{source: [(number, Mutant)]} to {source: object} and the mutants that are in, by number."""
        with ThreadPoolExecutor(self.jobs) as pool:
            results = list(pool.map(lambda item: self.with_switches(*item), mutants_by_source.items()))
        objects = {source: r[0] for source, r in zip(mutants_by_source, results) if r[0]}
        return objects, {number: (source, mutant) for source, r in zip(mutants_by_source, results) for number, mutant in r[1]}

    def _link_words(self, program):
        if program not in self.links:
            run = subprocess.run(["ninja", "-t", "commands", program], cwd=self.folder, capture_output=True, text=True, check=True)
            line = run.stdout.strip().splitlines()[-1]
            words = shlex.split(line)
            self.links[program] = [w for w in words[:words.index("&&", 2)] if w not in (":", "&&")]
        return self.links[program]

    def is_built(self, program):
        run = subprocess.run(["ninja", "-t", "query", program], cwd=self.folder, capture_output=True)
        if run.returncode != 0:
            return False
        words = self._link_words(program)
        return (self.folder / words[words.index("-o") + 1]).is_file()

    def link(self, program, objects, result, command=None):
        """Links a program of the build with other objects in the place of some sources'. A test program that starts
        the command gets the path of a mutated one."""
        words = list(self._link_words(program))
        words[words.index("-o") + 1] = str(result)
        extra = [str(self.support["switch"])]
        for source, instead in objects.items():
            original = self._arguments(source)[1]
            if original in words:
                words[words.index(original)] = str(instead)
            elif any(w.endswith(f"/lib{self._target_of(original)}.a") for w in words):
                extra.append(str(instead))
        if any("gtest" in w for w in words):
            extra.append(str(self.support["record"]))
        for i, word in enumerate(words):
            source = self.by_object.get(word)
            if command and source and "TILEWRIGHT_COMMAND" in source.read_text():
                words[i] = str(self._with_command(source, command, f"{program}_{source.stem}"))
        first_object = next(i for i, w in enumerate(words) if w.endswith(".o"))
        # A shared library may ask an archive for a standard function that the source beside the mutants has too:
        # of all else that comes along, the mutants' definitions are the first.
        words[first_object:first_object] = ["-Wl,-z,muldefs", *extra]
        subprocess.run(words, cwd=self.folder, check=True)
        return result

    @staticmethod
    def _target_of(object_path):
        return re.search(r"/CMakeFiles/([^/]+)\.dir/", object_path).group(1)

    def _with_command(self, source, command, stem):
        result, messages = self.compile(source, source.read_text(), stem,
                                        ["-UTILEWRIGHT_COMMAND", f'-DTILEWRIGHT_COMMAND="{command}"'])
        if not result:
            raise RuntimeError(messages)
        return result
