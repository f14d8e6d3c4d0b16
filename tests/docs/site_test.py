"""The documentation site builds without a warning, every link in it leads to a page or a heading that is there, and it
loads nothing from elsewhere."""
import html.parser
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.targets, self.names, self.loaded = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.names |= {found[key] for key in ('id', 'name') if found.get(key)}
        if tag == 'a' and found.get('href'):
            self.targets.append(found['href'])
        elif tag in ('script', 'img', 'link', 'iframe') and (found.get('src') or found.get('href')):
            if found.get('rel') != 'canonical':
                self.loaded.append(found.get('src') or found.get('href'))


def main():
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder) / 'site'
        done = subprocess.run(['mkdocs', 'build', '--strict', '-d', site], cwd=ROOT, capture_output=True, text=True,
                              env={'PATH': '/usr/bin:/bin', 'TILEWRIGHT': sys.argv[1]})
        assert done.returncode == 0 and 'WARNING' not in done.stderr, done.stderr
        pages = {path: Links(path.read_text(encoding='utf-8')) for path in site.rglob('*.html')}
        dead, count = [], 0
        for path, links in pages.items():
            for target in links.targets + links.loaded:
                parts = urllib.parse.urlsplit(target)
                if parts.scheme in ('http', 'https'):
                    if target in links.loaded:
                        dead.append(f'{path.relative_to(site)} loads {target}')
                    continue
                if parts.scheme or path.name == '404.html':
                    continue
                count += 1
                place = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
                if place.is_dir():
                    place /= 'index.html'
                if not place.exists():
                    dead.append(f'{path.relative_to(site)}: {target} is not there')
                elif parts.fragment and place in pages and urllib.parse.unquote(parts.fragment) not in pages[place].names:
                    dead.append(f'{path.relative_to(site)}: no heading {target}')
        assert not dead, '\n'.join(sorted(set(dead)))
        assert len(pages) > 60 and count > 1000, (len(pages), count)
        index = (site / 'search/search_index.json').read_text()
        assert 'initiation interval' in index and 'overlay-16x16' in index
        print(f'{len(pages)} pages, {count} links lead somewhere')


main()
