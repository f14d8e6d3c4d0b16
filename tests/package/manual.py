#!/usr/bin/env python3
"""The man pages and the completions name every verb and every option of --help, and nothing else; `man` and `mandoc` have
nothing to say against the pages; bash, zsh and fish really complete.
usage: manual.py BUILD_FOLDER"""
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from terminal import Terminal  # noqa: E402

build = pathlib.Path(sys.argv.pop(1)).resolve()
folder = build / 'manual'
command = build / 'tilewright'


def run(*arguments, **more):
    return subprocess.run([str(a) for a in arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)


def help_of(path):
    return run(command, *path, '--help').stdout


def verbs_of(path):
    """Words at the beginning of help's lines that are verbs: their own help says so."""
    candidates = re.findall(r'^  ([a-z][a-z-]*)(?= |$)', help_of(path), re.MULTILINE)
    return [c for c in candidates if re.search('^Usage: ' + ' '.join(['tilewright', *path, c]) + r'( |$)', help_of([*path, c]), re.M)]


def options_of(path):
    lines = re.findall(r'^  (-\S.*?)(?:  |$)', help_of(path), re.MULTILINE)
    return {name for line in lines for name in re.findall(r'(?<![\w-])--?[a-z][a-z-]*', re.split(r'[ =]', line)[0])}


def all_paths(path=()):
    paths = [list(path)]
    for verb in verbs_of(path):
        paths += all_paths([*path, verb])
    return paths


PATHS = all_paths()


def troff(path):
    return (folder / 'man1' / ('-'.join(['tilewright', *path]) + '.1')).read_text().replace('\\-', '-')


class Pages(unittest.TestCase):
    def test_every_verb_has_a_page_and_no_other(self):
        self.assertGreater(len(PATHS), 25)
        names = {'-'.join(['tilewright', *path]) + '.1' for path in PATHS}
        self.assertEqual(names, {page.name for page in (folder / 'man1').iterdir()})
        for path in PATHS:
            if path:
                self.assertIn('-'.join(['tilewright', *path]), troff(path[:-1]), path)

    def test_every_option_stands_on_its_page_and_no_other(self):
        for path in PATHS:
            tags = re.findall(r'^\.TP\n(.*)', troff(path), re.MULTILINE)
            named = {name for tag in tags for name in re.findall(r'\\fB(--?[a-z][a-z-]*)\\fR', tag)}
            self.assertEqual(options_of(path), named, path)

    def test_readers_of_pages_find_no_fault(self):
        for page in sorted((folder / 'man1').iterdir()):
            lint = run('mandoc', '-T', 'lint', '-W', 'warning', page)
            self.assertEqual((lint.returncode, lint.stdout), (0, ''), page)
            man = subprocess.run(['man', '--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z', page], text=True,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={'MANWIDTH': '100', 'PATH': '/usr/bin:/bin'})
            self.assertEqual((man.returncode, man.stderr), (0, ''), page)


class Bash(unittest.TestCase):
    def complete(self, *words):
        script = f"""source {folder}/bash/tilewright
            COMP_WORDS=(tilewright "$@") COMP_CWORD=$#
            _tilewright
            printf '%s\\n' "${{COMPREPLY[@]}}" """
        result = run('bash', '--norc', '-c', script, 'bash', *words, cwd=folder.parent)
        return set(result.stdout.split('\n')) - {''}

    def test_verbs_and_options_of_every_verb(self):
        for path in PATHS:
            self.assertEqual(options_of(path), self.complete(*path, '-'), path)
            if verbs_of(path):
                self.assertLessEqual(set(verbs_of(path)), self.complete(*path, ''), path)

    def test_values(self):
        self.assertEqual({'cycle'}, self.complete('run', 'x.twb', '--engine', 'c'))
        self.assertEqual({'functional', 'host', 'cycle', 'rtl', 'fabric'}, self.complete('run', '--engine', '=', ''))
        self.assertEqual({'functional'}, self.complete('run', '--engine', '=', 'fun'))
        self.assertIn('xc7z020', self.complete('generate', 'm.onnx', '--device', 'xc'))
        self.assertLessEqual({'overlay-16x16', 'overlay-8x8'}, self.complete('compile', '--hardware', 'overlay-'))
        self.assertIn('manual', self.complete('inspect', 'man'))  # a folder here
        self.assertIn('manual', self.complete('place', 'man'))    # a verb of place or a file
        self.assertEqual({'train'}, self.complete('place', 'trai'))
        self.assertEqual(set(), self.complete('map', '--objective', 'nothing'))

    def test_the_tab_key(self):
        shell = Terminal('bash', '--norc', '--noprofile', '-i')
        try:
            shell.wait_for('ready> ')
            shell.type(f'source {folder}/bash/tilewright\n')
            shell.wait_for('ready> ')
            shell.type('tilewright insp\t')
            shell.wait_for('inspect ')
            shell.type('--js\t')
            shell.wait_for('--json ')
        finally:
            shell.close()


class Zsh(unittest.TestCase):
    def test_syntax_and_every_name(self):
        self.assertEqual((0, ''), (lambda r: (r.returncode, r.stdout))(run('zsh', '-n', folder / 'zsh/_tilewright')))
        functions = dict(re.findall(r'^(_tilewright\w*)\(\) \{\n(.*?)^\}', (folder / 'zsh/_tilewright').read_text(), re.M | re.S))
        for path in PATHS:
            body = functions['_'.join(['_tilewright', *path])]
            self.assertEqual(options_of(path), set(re.findall(r"'\*(--?[a-z][a-z-]*)\[", body)), path)
            for verb in verbs_of(path):
                self.assertIn(f"'{verb}:", body)

    def test_the_tab_key(self):
        shell = Terminal('zsh', '-f', '-i', ZDOTDIR='/nonexistent')
        try:
            shell.type(f'PS1="ready> "; fpath=({folder}/zsh $fpath); autoload -Uz compinit; compinit -u -D; echo lo""aded\n')
            shell.wait_for('loaded')
            shell.wait_for('ready> ')
            shell.type('tilewright insp\t')
            shell.wait_for('inspect ')
            shell.type('x --js\t')
            shell.wait_for('--json ')
        finally:
            shell.close()


class Fish(unittest.TestCase):
    def complete(self, line):
        result = run('fish', '--no-config', '-c', f'source {folder}/fish/tilewright.fish; complete -C {line!r}', cwd=folder.parent)
        return {found.split('\t')[0] for found in result.stdout.split('\n')} - {''}

    def test_verbs_and_options_of_every_verb(self):
        for path in PATHS:
            line = ' '.join(['tilewright', *path])
            self.assertLessEqual({o for o in options_of(path) if o.startswith('--')}, self.complete(line + ' --'), path)
            self.assertLessEqual(set(verbs_of(path)), self.complete(line + ' '), path)

    def test_values(self):
        self.assertEqual({'cycle'}, self.complete('tilewright run --engine cy'))
        self.assertIn('manual/', self.complete('tilewright inspect manu'))


if __name__ == '__main__':
    unittest.main(verbosity=1)
