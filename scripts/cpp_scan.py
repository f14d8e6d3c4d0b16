"""What scripts/check-names and check-text see of C++: the definitions of types and functions, by braces."""
import re

# Comments, literals and preprocessor lines.
_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\d)\'(?:\\.|[^\'\\\n])+\'|'
                    r'^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
_NAMESPACE = re.compile(r'^(?:inline\s+)?namespace\b|^extern$')
_TEMPLATE = r'^(?:template\b.*?>\s*)?'
_TYPE = re.compile(_TEMPLATE + r'(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:alignas\s*\([^)]*\)\s*)?'
                   r'(?:\[\[.*?\]\]\s*)?([A-Za-z_]\w*)\s*(?:final\s*)?(?::(?!:).*)?$', re.S)
_ALIAS = re.compile(_TEMPLATE + r'using\s+([A-Za-z_]\w*)\s*=', re.S)
_FUNCTION = re.compile(r'([~\w:]+|operator\s*\S+)\s*\(', re.S)


def definitions(text):
    """(kind, name, first line, last line, at namespace scope, namespace if it is unnamed) of the types, aliases and
    functions in a file; what is inside a function is not looked at. An unnamed namespace is given by those around it."""
    text = _NOISE.sub(lambda found: re.sub(r'[^\n]', ' ', found[0]), text)
    scopes, start, line_at = [], 0, lambda at: text.count('\n', 0, at) + 1
    for mark in re.finditer(r'[{};]', text):
        statement = text[start:mark.start()]
        head = statement.strip()
        first = start + len(statement) - len(statement.lstrip())
        start = mark.end()
        kinds = [scope[0] for scope in scopes]
        at_namespace = all(kind == 'namespace' for kind in kinds)
        inside = all(kind in ('namespace', 'type') for kind in kinds)
        if mark[0] == '{':
            if _NAMESPACE.match(head):
                scopes.append(('namespace', head.split()[1:], first))
            elif inside and (found := _TYPE.match(head)):
                scopes.append(('type', found[1], first))
            elif inside and (found := _FUNCTION.search(head)) and '=' not in head[:found.start()]:
                scopes.append(('function', found[1], first))
            else:
                scopes.append(('other', None, first))
        elif mark[0] == '}' and scopes:
            kind, name, began = scopes.pop()
            if kind in ('type', 'function') and all(s[0] in ('namespace', 'type') for s in scopes):
                yield (kind, name, line_at(began), line_at(mark.start()), all(s[0] == 'namespace' for s in scopes),
                       '::'.join(w for s in scopes for w in s[1]) if scopes and scopes[-1][:2] == ('namespace', [])
                       else None)
        elif mark[0] == ';' and at_namespace and (found := _ALIAS.match(head)):
            yield 'type', found[1], line_at(first), line_at(mark.start()), True, None
