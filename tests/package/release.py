#!/usr/bin/env python3
"""One version: CMakeLists.txt, CITATION.cff, the top of CHANGELOG.md and what the command prints; a tag on this commit.
usage: release.py BUILD_FOLDER"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

build = pathlib.Path(sys.argv.pop(1)).resolve()
source = pathlib.Path(__file__).resolve().parents[2]


def first(pattern, name):
    return re.search(pattern, (source / name).read_text(), re.M).group(1)


class Release(unittest.TestCase):
    version = first(r'^project\(Tilewright VERSION (\S+) ', 'CMakeLists.txt')

    def test_changelog_and_citation(self):
        heading = first(r'^## (.*)', 'CHANGELOG.md')
        self.assertRegex(heading, rf'^{re.escape(self.version)} \((unreleased|\d{{4}}-\d\d-\d\d)\)$')
        citation = dict(re.findall(r'^([a-z-]+): *(.*)$', (source / 'CITATION.cff').read_text(), re.M))
        for field in ('cff-version', 'message', 'title', 'authors', 'license'):
            self.assertIn(field, citation)
        self.assertEqual(self.version, citation['version'])
        self.assertEqual(f"{self.version} ({citation.get('date-released', 'unreleased')})", heading)
        self.assertTrue((source / 'SECURITY.md').is_file())

    def test_the_command(self):
        printed = subprocess.run([build / 'tilewright', '--version'], text=True, stdout=subprocess.PIPE, check=True).stdout
        self.assertRegex(printed, rf'^{re.escape(self.version)} \(commit (unknown|[0-9a-f]{{7,40}}(-dirty)?)\)\n$')

    def test_archives_know_their_commit(self):
        """`git archive` writes it down; a folder without either is "unknown", also inside somebody else's repository."""
        head = subprocess.run(['git', '-C', source, 'rev-parse', 'HEAD'], text=True, stdout=subprocess.PIPE).stdout.strip()
        if not head:
            self.skipTest('not a clone')
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(f'git -C "{source}" archive HEAD cmake .gitattributes | tar -x -C "{folder}"', shell=True, check=True)
            header = pathlib.Path(folder) / 'commit.h'
            make = ['cmake', f'-DSOURCE={folder}', f'-DOUTPUT={header}', '-P', source / 'cmake/commit.cmake']
            subprocess.run(make, check=True)
            commit = re.search('TILEWRIGHT_COMMIT "([0-9a-f]+)"', header.read_text()).group(1)
            self.assertTrue(head.startswith(commit), commit)
            (pathlib.Path(folder) / 'cmake/archived-commit').write_text('$Format' + ':%h %cs$\n')
            subprocess.run(make, check=True)
            self.assertIn('TILEWRIGHT_COMMIT "unknown"', header.read_text())

    def test_tag(self):
        tags = subprocess.run(['git', '-C', source, 'tag', '--points-at', 'HEAD'], text=True, stdout=subprocess.PIPE).stdout.split()
        versions = [tag for tag in tags if re.match(r'v\d', tag)]
        if versions:
            self.assertEqual(['v' + self.version], versions)
            self.assertNotIn('unreleased', first(r'^## (.*)', 'CHANGELOG.md'))


if __name__ == '__main__':
    unittest.main(verbosity=1)
