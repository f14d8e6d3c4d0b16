"""What the documentation site has beside the pages of docs/, as a hook of MkDocs: the reference of the command (its own
help), of the C++ headers and of the Python package, and the pages that stand at the root of the tree. Links from pages to files of the
tree that are no pages become names, for the site stands alone."""
import ast
import json
import os
import pathlib
import re
import subprocess

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r'(?<!!)\[([^\]]+)\]\(([^)\s#]+)(#[^)\s]*)?\)')
ROOT_PAGES = {'ARCHITECTURE.md': 'design/architecture.md', 'CHANGELOG.md': 'changelog.md',
              'CONTRIBUTING.md': 'contributing.md'}


def command(*words):
    program = os.environ.get('TILEWRIGHT', str(ROOT / 'build/release/tilewright'))
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def help_of(*verbs):
    return command(*verbs, '--help')


def verbs_of(help_text):
    """The names in the sections of verbs: a word, spaces, its description."""
    sections = re.split(r'^(\S.*):$', help_text, flags=re.MULTILINE)
    return [name for title, body in zip(sections[1::2], sections[2::2]) if title not in ('Options', 'Positionals', 'Example')
            for name in re.findall(r'^  ([a-z]+) {2,}\S', body, re.MULTILINE)]


def verbs_page():
    top = help_of()
    parts = ['# Verbs and options\n\nWhat `tilewright VERB --help` prints.\n', f'```text\n{top}```\n']
    for verb in verbs_of(top):
        text = help_of(verb)
        parts.append(f'## {verb}\n\n```text\n{text}```\n')
        parts += [f'### {verb} {sub}\n\n```text\n{help_of(verb, sub)}```\n' for sub in verbs_of(text)]
    return '\n'.join(parts)


def formats_page():
    """The fields of every file format, as the readers name them in their schemas."""
    parts = ['# Fields of files\n\nThe YAML and JSON formats and their fields, from the JSON Schemas that `tilewright schema NAME` '
             'prints. A comment in the first line of a YAML file tells editors with the YAML language server to check and '
             'complete it: `# yaml-language-server: $schema=FILE`.\n']
    for line in command('schema').splitlines():
        name, what = line.split(maxsplit=1)
        schema = json.loads(command('schema', name))
        parts.append(f'## {name}\n\n{what[0].upper()}{what[1:]}\n')
        rows = list(fields_of(schema, schema.get('$defs', {})))
        if rows:
            parts += ['| field | type | values |\n|---|---|---|', *(f'| `{n}` | {t} | {v} |' for n, t, v in rows), '']
    return '\n'.join(parts)


def fields_of(schema, definitions, path='', depth=0):
    """(path, type, values) of every field, nested ones with dots."""
    if '$ref' in schema:
        schema = definitions.get(schema['$ref'].rsplit('/', 1)[-1], {})
    for choice in schema.get('anyOf', []) + schema.get('oneOf', []):
        yield from fields_of(choice, definitions, path, depth)
    if 'items' in schema and isinstance(schema['items'], dict):
        yield from fields_of(schema['items'], definitions, path + '[]', depth + 1)
    for name, field in schema.get('properties', {}).items():
        here = f'{path}.{name}' if path else name
        kind = field.get('type', 'see below' if '$ref' in field or 'anyOf' in field else 'any')
        values = ', '.join(f'`{value}`' for value in field.get('enum', []))
        yield here, kind if isinstance(kind, str) else ' or '.join(kind), values
        if depth < 4:
            yield from fields_of(field, definitions, here, depth + 1)


def headers_page():
    """The facade: what the command and the Python package call, and nothing below it."""
    parts = ['# C++\n\nThe headers of `flow`, which the command and the Python package call. `make install` installs them '
             'with a CMake package: `find_package(Tilewright)`, then link `Tilewright::flow`.\n']
    folder = ROOT / 'src/tilewright/flow'
    for path in sorted(folder.rglob('*.h')):
        if not path.name.endswith('_testing.h'):
            name = path.relative_to(ROOT / 'src')
            parts.append(f'## {path.relative_to(folder)}\n\n`#include "{name}"`\n\n```cpp\n{path.read_text().strip()}\n```\n')
    return '\n'.join(parts)


def python_page():
    """One section per public name, in the order of the package's own list, from the module that defines it."""
    module = ast.parse((ROOT / 'python/tilewright/__init__.py').read_text())
    places = {alias.name: '.'.join(filter(None, ('tilewright', node.module, alias.name))) for node in module.body
              if isinstance(node, ast.ImportFrom) for alias in node.names if not alias.name.startswith('_')}
    places['backend'] = 'tilewright.backend'
    names = '\n'.join(f'::: {places[name]}\n' for name in sorted(places, key=str.lower))
    return ('# Python\n\nThe public names of the package `tilewright`; [the guide](../guides/python.md) shows them at work.\n\n' + names)


def generated():
    pages = {'reference/verbs.md': verbs_page(), 'reference/formats.md': formats_page(), 'reference/cpp.md': headers_page(),
             'reference/python_api.md': python_page()}
    for name, place in ROOT_PAGES.items():
        pages[place] = (ROOT / name).read_text()
    return pages


def on_files(files, config):
    folder = pathlib.Path(config['site_dir']).parent / 'generated'
    for name, text in generated().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        files.append(File(name, str(folder), config['site_dir'], config['use_directory_urls']))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links as the site has them: from the place in the tree of the page to the place on the site of the target."""
    origins = {place: name for name, place in ROOT_PAGES.items()}
    source = ROOT / origins.get(page.file.src_path, 'docs/' + page.file.src_path)

    def link(found):
        label, target, anchor = found[1], found[2], found[3] or ''
        if re.match(r'[a-z]+:', target):
            return found[0]
        path = pathlib.Path(os.path.normpath(source.parent / target))
        try:
            inside = str(path.relative_to(ROOT))
        except ValueError:
            return label
        inside = ROOT_PAGES.get(inside, inside.removeprefix('docs/') if inside.startswith('docs/') else '')
        if files.get_file_from_path(inside) is None:
            return label if path.exists() else found[0]
        return f'[{label}]({os.path.relpath(inside, pathlib.PurePath(page.file.src_path).parent)}{anchor})'

    fenced = re.split(r'(^```.*?^```$)', markdown, flags=re.MULTILINE | re.DOTALL)
    return ''.join(part if part.startswith('```') else LINK.sub(link, part) for part in fenced)
