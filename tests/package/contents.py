#!/usr/bin/env python3
"""The Debian package of this build: what is in it, what it depends on, that lintian has no errors, and that it runs from
the folder where it is unpacked, whatever that is.
usage: contents.py BUILD_FOLDER"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

build = pathlib.Path(sys.argv.pop(1)).resolve()
source = pathlib.Path(__file__).resolve().parents[2]
scratch = tempfile.TemporaryDirectory()
work = pathlib.Path(scratch.name)


def run(*arguments, **more):
    return subprocess.run([str(a) for a in arguments], text=True, check=True, stdout=subprocess.PIPE, **more).stdout


def setUpModule():
    """Fast compression: what is inside is the same."""
    run('cpack', '--config', build / 'CPackConfig.cmake', '-B', work / 'packed', '-D', 'CPACK_DEBIAN_COMPRESSION_TYPE=gzip',
        stderr=subprocess.STDOUT)
    run('dpkg-deb', '-x', package('tilewright'), work / 'root')


def tearDownModule():
    scratch.cleanup()


def package(name):
    found = list((work / 'packed').glob(name + '_*.deb'))
    assert len(found) == 1, found
    return found[0]


class Package(unittest.TestCase):
    def test_files(self):
        usr = work / 'root/usr'
        for path in ('bin/tilewright', 'lib/libtilewright_flow.a', 'lib/pkgconfig/tilewright.pc',
                     'lib/cmake/Tilewright/TilewrightConfig.cmake', 'include/tilewright/flow/facade.h',
                     'share/man/man1/tilewright.1.gz', 'share/man/man1/tilewright-place-train.1.gz',
                     'share/bash-completion/completions/tilewright', 'share/zsh/vendor-completions/_tilewright',
                     'share/fish/vendor_completions.d/tilewright.fish', 'share/tilewright/hardware/overlay-16x16.yaml',
                     'share/tilewright/hardware/devices/xc7z020.yaml', 'share/tilewright/dataflows/rs.yaml',
                     'share/tilewright/models/lenet-fashion/lenet_fashion.onnx',
                     'share/tilewright/models/residual-fashion/residual_fashion.onnx',
                     'share/tilewright/models/depthwise-fashion/depthwise_fashion.onnx',
                     'share/tilewright/models/gated-fashion/gated_fashion.onnx',
                     'share/tilewright/models/vit-fashion/vit_fashion.onnx',
                     'share/tilewright/models/byte-lm/byte_lm.onnx',
                     'share/tilewright/rtl/overlay/tilewright_overlay.sv',
                     'share/doc/tilewright/copyright', 'share/doc/tilewright/changelog.gz', 'share/doc/tilewright/README.md'):
            self.assertTrue((usr / path).is_file(), path)
        self.assertTrue(any((usr / 'share/doc/tilewright/compiled-in').iterdir()))
        self.assertEqual([], [p for p in usr.rglob('*') if '_test' in p.name])
        headers = list((usr / 'include').rglob('*.h'))
        self.assertLess(len(headers), 250)  # what the facade includes, not the whole tree
        for header in headers:  # a program needs the package and a compiler, no library's headers
            for name in re.findall(r'#include <([^>]+)>', header.read_text()):
                self.assertNotIn('.', name, header)

    def test_fields(self):
        fields = run('dpkg-deb', '-f', package('tilewright'))
        depends = re.search('^Depends: (.*)', fields, re.M).group(1)
        for name in ('libc6', 'libdnnl2', 'libonnx1', 'libprotobuf32', 'libsqlite3-0', 'python3-numpy', 'dataset-fashion-mnist'):
            self.assertRegex(depends, rf'(^|, ){re.escape(name)}( |,|$)')
        self.assertNotIn('torch', depends)
        self.assertRegex(depends, r'python3 \(>= 3\.\d+~\), python3 \(<< 3\.\d+~\)')

    def test_lintian_has_no_errors(self):
        for found in sorted((work / 'packed').glob('*.deb')):
            lintian = subprocess.run(['lintian', '--allow-root', '--fail-on', 'error', '--tag-display-limit', '0', found], text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(0, lintian.returncode, lintian.stdout)

    def test_runs_from_any_folder(self):
        """Presets, models and the package are those beside the command, not those of the source tree."""
        usr = work / 'root/usr'
        printed = run(usr / 'bin/tilewright', 'demo', '--images', '3', '-o', work / 'demo')
        self.assertIn('6 simulated outputs, each bit-identical', printed)
        self.assertIn(f'{usr}/share/tilewright/models', printed)
        answer = run('/usr/bin/python3', '-B', '-c', 'import tilewright as tw; print(tw.__version__, tw.__file__)',
                     env=dict(os.environ, PYTHONPATH=str(usr / 'lib/python3/dist-packages')))
        version = run(usr / 'bin/tilewright', '--version').split()[0]
        self.assertEqual(answer.split(), [version, f'{usr}/lib/python3/dist-packages/tilewright/__init__.py'])


if __name__ == '__main__':
    unittest.main(verbosity=1)
