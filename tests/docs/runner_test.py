"""scripts/run-pages notices what it is there for: pages with mistakes of every kind, and none in a page without."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / 'scripts'

GOOD = '''# A page
```sh
echo one > written.txt
```

```console
$ cat written.txt
one
$ seq 1 5
1
...
5
```

```python
text = open("written.txt").read()
```

```pycon
>>> text
'one\\n'
```

<!-- fails: 3 -->
```sh
exit 3
```

<!-- slow: years -->
```sh
false
```

<!-- by: ^a test$ -->
```sh
false
```

```text
tilewright inspect [--json] MODEL
```
'''
BAD = {
    'a command that fails': '```sh\nfalse\necho hidden\n```\n',
    'a file that is not there': '```sh\ncat model.onnx\n```\n',
    'a failing command in a pipe': '```sh\nfalse | cat\n```\n',
    'another exit code': '<!-- fails: 2 -->\n```sh\nexit 3\n```\n',
    'a success where a failure is announced': '<!-- fails: 2 -->\n```sh\ntrue\n```\n',
    'other output': '```console\n$ echo one\ntwo\n```\n',
    'output that is missing': '```console\n$ echo one\n```\n',
    'a session without a command': '```console\none\n```\n',
    'code that raises': '```python\nassert 1 > 2\n```\n',
    'another value': '```pycon\n>>> 1 + 1\n3\n```\n',
    'an indented command': '    tilewright inspect model.onnx\n',
    'a command behind a fence without a language': '```\ntilewright inspect model.onnx\n```\n',
    'a test that nobody wrote': '<!-- by: ^another test$ -->\n```sh\ntrue\n```\n',
}


def run(root, build, *arguments):
    done = subprocess.run([root / 'scripts/run-pages', '--build', build, *arguments], capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout.splitlines()[-1]), done.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        root, build = pathlib.Path(folder), pathlib.Path(folder) / 'build/release'
        (root / 'scripts').mkdir()
        shutil.copy(SCRIPTS / 'run-pages', root / 'scripts')
        build.mkdir(parents=True)
        (build / 'tilewright').write_text('')
        (build / 'CTestTestfile.cmake').write_text('add_test("a test" "true")\n')

        (root / 'good.md').write_text(GOOD)
        code, figure, output = run(root, build, 'good.md')
        assert code == 0, output
        assert (figure['blocks_run'], figure['blocks_marked_slow'], figure['blocks_run_by_other_tests']) == (5, 1, 1), figure
        code, figure, output = run(root, build, '--slow', 'good.md')
        assert code == 1 and figure['blocks_failed'] == 1, output

        for what, text in BAD.items():
            (root / 'bad.md').write_text(text)
            code, figure, output = run(root, build, 'bad.md')
            assert code == 1 and figure['blocks_failed'] >= 1, f'{what} is not noticed\n{output}'

        (root / 'bad.md').write_text('before\n' + BAD['other output'] + 'behind\n')
        run(root, build, '--update', 'bad.md')
        assert (root / 'bad.md').read_text() == 'before\n```console\n$ echo one\none\n```\nbehind\n'
        code, figure, output = run(root, build)  # all pages
        assert code == 0 and figure['pages'] == 2, output
    print(f'{len(BAD)} kinds of mistakes noticed')


main()
