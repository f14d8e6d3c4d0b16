"""Where a C++ source can be mutated by one token, and how: the source is read as tokens, and the operands of an
operator are found by its precedence. The layout of clang-format is relied upon: a binary operator stands between
blanks, a template's angle brackets do not."""

import bisect
import re
from dataclasses import dataclass, field

KINDS = ("comparison", "off-by-one", "swapped", "dropped", "min/max", "rounding")

TOKEN = re.compile(r"""
    (?P<blank>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<string>(?:u8|[uUL])?R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
  | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<mark><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|[^\w\s])
""", re.X | re.S)

PRECEDENCE = {"*": 13, "/": 13, "%": 13, "+": 12, "-": 12, "<<": 11, ">>": 11, "<=>": 10, "<": 9, "<=": 9, ">": 9,
              ">=": 9, "==": 8, "!=": 8, "&": 7, "^": 6, "|": 5, "&&": 4, "||": 3}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
CLOSING = {"(": ")", "[": "]", "{": "}"}
STATEMENT_WORDS = {"return", "case", "throw", "else", "do", "co_return", "co_yield", "if", "for", "while", "switch"}
NOT_CALLED = STATEMENT_WORDS | {"sizeof", "alignof", "decltype", "noexcept", "catch", "operator", "static_assert",
                                "defined", "alignas", "requires", "constexpr"}
SYMMETRIC = {"min", "max", "minmax", "swap", "gcd", "lcm", "hypot", "__builtin_mul_overflow", "__builtin_add_overflow"}
# Invariants of the project and capacities: no test can see a mutant there.
UNSEEN = {"TILEWRIGHT_CHECK", "static_assert", "reserve"}
COMPARISONS = {"<": ("less", "<="), "<=": ("less_equal", "<"), ">": ("greater", ">="), ">=": ("greater_equal", ">"),
               "==": ("equal", "!="), "!=": ("not_equal", "==")}
EXTREMES = {"min": "max", "max": "min", "min_element": "max_element", "max_element": "min_element"}
ROUNDINGS = {"ceil": "floor", "floor": "ceil", "trunc": "floor", "round": "floor", "nearbyint": "floor",
             "lround": "floor", "llround": "floor"}
DIVISIONS = {"ceil_div", "ceil_divide", "divide_up"}


@dataclass
class Token:
    kind: str
    text: str
    begin: int
    end: int
    blank_before: bool = False
    blank_after: bool = False
    mate: int = -1  # of a bracket: the other one
    skipped: bool = False


@dataclass
class Mutant:
    kind: str
    line: int
    last_line: int
    what: str
    switched: list  # (begin, end, text, width): replacements that put the mutant behind its number ("#")
    plain: list = field(default_factory=list)  # (begin, end, text): the mutant planted alone


def tokens_of(text):
    found, position = [], 0
    while position < len(text):
        match = TOKEN.match(text, position)
        kind = "string" if match.lastgroup == "delimiter" else match.lastgroup
        piece, begin, position = match.group(), position, match.end()
        if piece == "#" and text[text.rfind("\n", 0, begin) + 1:begin].strip() == "":
            while True:  # a preprocessor line, with its continuations
                stop = text.find("\n", begin)
                position = len(text) if stop < 0 else stop
                if stop < 0 or text[stop - 1] != "\\":
                    break
                begin = stop + 1
            continue
        if kind != "blank":
            found.append(Token(kind, piece, begin, position))
    for token in found:
        token.blank_before = token.begin == 0 or text[token.begin - 1].isspace()
        token.blank_after = token.end == len(text) or text[token.end].isspace()
    return found


class Source:
    def __init__(self, text):
        self.text = text
        self.tokens = tokens_of(text)
        self.line_starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self._match_brackets()
        self._skip_constant_parts()

    def line_of(self, position):
        return bisect.bisect_right(self.line_starts, position)

    def _match_brackets(self):
        open_marks = []
        for i, t in enumerate(self.tokens):
            if t.kind == "mark" and t.text in CLOSING:
                open_marks.append(i)
            elif t.kind == "mark" and t.text in CLOSING.values() and open_marks:
                t.mate = open_marks.pop()
                self.tokens[t.mate].mate = i
        for i, t in enumerate(self.tokens):
            before = self.tokens[i - 1].text if i else ""
            if t.text == "<" and t.mate < 0 and (before == "template" or not t.blank_before) and before != "operator":
                self._match_angle(i)

    def _match_angle(self, first):
        depth, i = 1, first + 1
        while i < len(self.tokens):
            t = self.tokens[i]
            if t.text in CLOSING and t.mate > i:
                i = t.mate
            elif t.text == "<":
                depth += 1
            elif t.text in (">", ">>"):
                depth -= len(t.text)
                if depth <= 0:
                    self.tokens[first].mate, t.mate = i, first
                    for inside in self.tokens[first:i + 1]:
                        inside.skipped = True
                    return
            elif t.text in (";", ")", "}"):
                return
            i += 1

    # What the compiler evaluates, and the project's own invariants.
    def _skip_constant_parts(self):
        tokens = self.tokens
        for i, t in enumerate(tokens):
            last = None
            follows = tokens[i + 1] if i + 1 < len(tokens) else t
            if t.text in UNSEEN and follows.text == "(":
                last = follows.mate
            elif t.text == "constexpr" and i and tokens[i - 1].text == "if":
                last = follows.mate
            elif t.text in ("constexpr", "consteval", "enum", "using", "typedef", "extern"):
                last = self._end_of_declaration(i)
            elif t.text in ("case", "default"):
                last = i
                while last + 1 < len(tokens) and tokens[last].text not in (":", ";"):
                    last += 1
            elif t.text == "operator":
                last = i + 1
            if last is not None:
                for inside in tokens[i:last + 1]:
                    inside.skipped = True

    def _end_of_declaration(self, i):
        while i < len(self.tokens) and self.tokens[i].text != ";":
            t = self.tokens[i]
            if t.text == "{" and self.tokens[i - 1].text in (")", "const", "noexcept", "override"):
                return t.mate
            i = t.mate if t.mate > i else i
            i += 1
        return i

    def is_operand_end(self, i):
        t = self.tokens[i]
        return (t.kind in ("name", "number", "string") and t.text not in STATEMENT_WORDS) or t.text in (")", "]", "}")

    def is_binary(self, i):
        t = self.tokens[i]
        return (t.kind == "mark" and t.text in PRECEDENCE and t.mate < 0 and t.blank_before and t.blank_after and i > 0
                and self.is_operand_end(i - 1))

    def left_operand(self, i):
        level, first = PRECEDENCE[self.tokens[i].text], i
        while first > 0:
            t = self.tokens[first - 1]
            if t.mate >= 0 and t.mate < first - 1:
                first = t.mate
                continue
            ends = t.text in CLOSING or t.text in (",", ";", "?", ":", "}") or t.text in ASSIGNMENTS
            if ends or t.text in STATEMENT_WORDS or (self.is_binary(first - 1) and PRECEDENCE[t.text] < level):
                break
            first -= 1
        return first

    def right_operand(self, i, level=None):
        level, last = PRECEDENCE.get(self.tokens[i].text, 0) if level is None else level, i
        while last + 1 < len(self.tokens):
            t = self.tokens[last + 1]
            if t.mate > last + 1:
                last = t.mate
                continue
            ends = t.mate >= 0 or t.text in (",", ";", ":", ")", "]", "}") or t.text in ASSIGNMENTS
            if ends or (t.text == "?" and level > 0) or (self.is_binary(last + 1) and PRECEDENCE[t.text] <= level):
                break
            last += 1
        return last

    def piece(self, first, last):
        return self.text[self.tokens[first].begin:self.tokens[last].end]

    # A mutant that wraps the tokens first..last: `opening` before them, ")" behind, and replacements between.
    def wrapped(self, kind, at, what, first, last, opening, inner, plain, closing=")"):
        begin, end = self.tokens[first].begin, self.tokens[last].end
        width = end - begin + (0 if inner else 1)  # around what a mutant makes of the same tokens
        switched = [(begin, begin, opening, width)] + inner + [(end, end, closing, width)]
        return Mutant(kind, self.line_of(begin), self.line_of(end), what, switched, plain)


def operator_mutants(source, i):
    tokens, t = source.tokens, source.tokens[i]
    first, last = source.left_operand(i), source.right_operand(i)
    if first == i or last == i:
        return
    left, right = source.piece(first, i - 1), source.piece(i + 1, last)
    comma = [(t.begin, t.end, ",", 0)]
    drop_right, drop_left = [(tokens[i - 1].end, tokens[last].end, "")], [(tokens[first].begin, tokens[i + 1].begin, "")]
    exchange = [(tokens[first].begin, tokens[i - 1].end, f"({right})"), (tokens[i + 1].begin, tokens[last].end, f"({left})")]

    def call(kind, name, what, plain):
        return source.wrapped(kind, i, what, first, last, f"mutation::{name}(#, ", comma, plain)

    if t.text in COMPARISONS:
        name, other = COMPARISONS[t.text]
        yield call("comparison", name, f"'{t.text}' becomes '{other}'", [(t.begin, t.end, other)])
    elif t.text in ("+", "-", "*"):
        name = {"+": "sum", "-": "difference", "*": "product"}[t.text]
        yield call("dropped", name + "_without_right", f"'{t.text} {right}' is dropped", drop_right)
        if t.text == "-":
            yield call("swapped", "swapped_difference", f"the sides of '{left} - {right}' are swapped", exchange)
        else:
            yield call("dropped", name + "_without_left", f"'{left} {t.text}' is dropped", drop_left)
    elif t.text == "/":
        yield call("rounding", "quotient", f"'/ {right}' rounds up", [])
        yield call("swapped", "swapped_quotient", f"the sides of '{left} / {right}' are swapped", exchange)
    elif t.text in ("&&", "||"):
        opening, sign = ("(mutation::on(#) || (", "&&") if t.text == "&&" else ("(!mutation::on(#) && (", "||")
        yield source.wrapped("dropped", i, f"'{sign} {right}' is dropped", i + 1, last, opening, [], drop_right, "))")
        yield source.wrapped("dropped", i, f"'{left} {sign}' is dropped", first, i - 1, opening, [], drop_left, "))")


def call_mutants(source, i):
    """Of the call `name(...)` whose name is token i."""
    tokens, t = source.tokens, source.tokens[i]
    opening = i + 1
    if tokens[opening].text == "<" and tokens[opening].mate > 0:
        opening = tokens[opening].mate + 1
    if tokens[opening].text != "(" or tokens[opening].mate < 0 or t.text in NOT_CALLED:
        return
    first = i
    while first >= 2 and tokens[first - 1].text == "::" and tokens[first - 2].kind == "name":
        first -= 2
    if first and tokens[first - 1].kind == "name" and tokens[first - 1].text not in STATEMENT_WORDS:
        return  # behind a type: a declaration
    standard = first == i - 2 and tokens[first].text == "std"
    arguments = split_arguments(source, opening)
    inside = tokens[opening].end

    def renamed(kind, name, what, plain, behind="#, "):
        begin, end = tokens[first].begin, t.end
        switched = [(begin, end, name, 0), (inside, inside, behind, 10**9)]
        return Mutant(kind, source.line_of(begin), source.line_of(inside), what, switched, plain)

    if standard and t.text in EXTREMES:
        other = EXTREMES[t.text]
        yield renamed("min/max", f"mutation::{t.text}", f"'{t.text}' becomes '{other}'", [(t.begin, t.end, other)])
    if t.text in ROUNDINGS and (standard or first == i) and len(arguments) == 1 and opening == i + 1:
        other = ROUNDINGS[t.text]
        yield renamed("rounding", f"mutation::{t.text}", f"'{t.text}' becomes '{other}'", [(t.begin, t.end, other)])
    if (t.text in DIVISIONS or t.text == "round_shift") and len(arguments) == 2 and opening == i + 1:
        form, sign = ("division", "/") if t.text in DIVISIONS else ("shift", ">>")
        whole = f"[&](const auto& p, const auto& q) {{ return {source.piece(first, i)}(p, q); }}"
        a, b = (source.piece(*argument) for argument in arguments)
        plain = [(tokens[first].begin, tokens[tokens[opening].mate].end, f"(({a}) {sign} ({b}))")]
        yield renamed("rounding", f"mutation::{form}", f"'{t.text}' does not round", plain, f"#, {whole}, ")
    if t.text not in SYMMETRIC:
        for x, y in zip(arguments, arguments[1:]):
            a, b = source.piece(*x), source.piece(*y)
            if a != b and is_simple(source, x) and is_simple(source, y):
                spans = [(tokens[s[0]].begin, tokens[s[1]].end) for s in (x, y)]
                switched = [(*spans[0], f"mutation::one_of(#, {a}, {b})", 0), (*spans[1], f"mutation::one_of(#, {b}, {a})", 0)]
                plain = [(*spans[0], b), (*spans[1], a)]
                yield Mutant("swapped", source.line_of(spans[0][0]), source.line_of(spans[1][1]),
                             f"'{t.text}' gets '{b}, {a}'", switched, plain)


def split_arguments(source, opening):
    tokens, i, found = source.tokens, opening + 1, []
    first, stop = i, source.tokens[opening].mate
    while i < stop:
        if tokens[i].mate > i:
            i = tokens[i].mate
        elif tokens[i].text == ",":
            found.append((first, i - 1))
            first = i + 1
        i += 1
    return found + [(first, stop - 1)] if stop > opening + 1 else []


def is_simple(source, span):
    """A path of names and indices: evaluating it twice does no harm, and it is no declaration."""
    named = False
    for i in range(span[0], span[1] + 1):
        t = source.tokens[i]
        if t.kind in ("name", "number"):
            if named or t.text in ("const", "auto", "this", "nullptr"):
                return False
            named = True
        elif t.text in (".", "->", "::", "[", "]", "+", "-"):
            named = False if t.text != "]" else True
        else:
            return False
    return span[1] >= span[0] and named


def token_mutants(source, i):
    tokens, t = source.tokens, source.tokens[i]
    if t.kind == "number" and re.fullmatch(r"[0-9]{1,9}", t.text):
        after = str(int(t.text) + 1)
        switched = [(t.begin, t.end, f"mutation::number(#, {t.text})", 0)]
        yield Mutant("off-by-one", source.line_of(t.begin), source.line_of(t.end), f"'{t.text}' becomes '{after}'",
                     switched, [(t.begin, t.end, after)])
    if t.text in ("+=", "-=") and i and source.is_operand_end(i - 1):
        last = source.right_operand(i, 0)
        if last > i:
            zero = [(tokens[i + 1].begin, tokens[last].end, f"std::decay_t<decltype({source.piece(i + 1, last)})>{{}}")]
            yield source.wrapped("dropped", i, f"'{t.text} {source.piece(i + 1, last)}' is dropped", i + 1, last,
                                 "mutation::term(#, ", [], zero)
    if t.text == "!" and not t.blank_after:
        last = i + 1
        while last + 1 < len(tokens) and (tokens[last + 1].text in (".", "->", "::", "(", "[")
                                          or tokens[last].text in (".", "->", "::", "!", "*")
                                          or (tokens[last + 1].text == "<" and tokens[last + 1].mate > 0)):
            last = tokens[last + 1].mate if tokens[last + 1].mate > last else last + 1
        if tokens[last].mate > last:
            last = tokens[last].mate
        begin, end = t.begin, tokens[last].end
        switched = [(begin, t.end, "mutation::opposite(#, ", end - begin), (end, end, ")", end - begin)]
        yield Mutant("comparison", source.line_of(begin), source.line_of(end), f"'!' before '{source.piece(i + 1, last)}' is dropped",
                     switched, [(begin, t.end, "")])
    if source.is_binary(i):
        yield from operator_mutants(source, i)
    if t.kind == "name" and i + 2 < len(tokens):
        yield from call_mutants(source, i)


def mutants_of(text):
    """All mutants of a source outside its constant expressions, and (second) those inside, which only `plain` plants."""
    source = Source(text)
    running, constant = [], []
    for i, t in enumerate(source.tokens):
        (constant if t.skipped else running).extend(token_mutants(source, i))
    return running, constant


def with_mutants(text, chosen):
    """The source with the mutants of `chosen`, (number, Mutant) each, behind their numbers. Mutants that replace
    the same text cannot stand together: the later one is left out. Returns the text and the numbers that are in."""
    edits, spans, kept = [], [], []
    for number, mutant in chosen:
        own = [(b, e) for b, e, _, _ in mutant.switched]
        if any(b < e2 and b2 < e for b, e in own for b2, e2 in spans):
            continue
        spans += own
        kept.append(number)
        for order, (begin, end, piece, width) in enumerate(mutant.switched):
            edits.append((begin, end, piece.replace("#", str(number)), width, order == 0 or piece[0] not in ")", number))
    # Behind the last token of an expression: narrow ones close first. Before its first: wide ones open first.
    closing = sorted((e for e in edits if e[0] == e[1] and not e[4]), key=lambda e: (e[3], -e[5]))
    opening = sorted((e for e in edits if e[0] == e[1] and e[4]), key=lambda e: (-e[3], e[5]))
    changing = [e for e in edits if e[0] < e[1]]
    out, position = [], 0
    for edit in sorted(closing + opening + changing, key=lambda e: (e[0], 0 if e[0] == e[1] and not e[4] else 1 if e[0] == e[1] else 2)):
        out.append(text[position:edit[0]])
        out.append(edit[2])
        position = edit[1]
    return "".join(out) + text[position:], kept


def planted(text, mutant):
    """The source with one mutant as plain text."""
    for begin, end, piece in sorted(mutant.plain, reverse=True):
        text = text[:begin] + piece + text[end:]
    return text
