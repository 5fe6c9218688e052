"""What the parts of the index share: its bounds, how findings are entered, the walk.

Nothing here may be imported, evaluated or compiled once a program is at hand.
"""

import _string
import ast
import builtins
import hashlib
import json
import re
import sys
import unicodedata

SCHEMA = "pyast/1"
GRAMMAR = f"{sys.version_info[0]}.{sys.version_info[1]}"
SECTIONS = (
    "imports", "aliases", "names", "bound", "attributes", "members", "private", "paths", "values", "stores",
    "identifiers", "kinds", "strings", "words", "calls", "formats", "decorators", "classes",
    "integers", "nesting", "source", "found", "truncated", "tree",
)
RARE = (
    "private", "stores", "strings", "words", "calls", "formats", "decorators", "classes", "integers",
    "nesting", "source", "values",
)

PLACES = 16  # positions kept per identifier; the rest is counted in "truncated"
STRING_CHARS = 200  # of a constant in "strings"
TEXT_CHARS = 2000  # of a text handed to a call
TEXTS = 16  # texts kept per call
PATH_PARTS = 8  # components of a dotted path
PATHS_PER_NAME = 64  # dotted paths that one name may stand for
LINKS = 16  # times that names standing for one another are followed
PATH_CHARS = 200  # of a path that a name stands for
BIG_INTEGER_BITS = 256
TEXT_ROOM = 1 << 18  # characters of texts in "calls", all together
PATH_ROOM = 1 << 20  # characters of keys in "paths", all together
MAX_NODES = 250_000
MAX_BYTES = 16 << 20

_BUILTINS = frozenset(dir(builtins))
_WORD = re.compile(r"__[a-z][a-z0-9_]*|[^\W\d]\w*(?=\()|(?<=[\w)\]}'\"])\.[^\W\d]\w*")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_SURROGATE = re.compile("[\ud800-\udfff]")

_parse_format = _string.formatter_parser
_split_field = _string.formatter_field_name_split
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_sha256 = hashlib.sha256
_normalize = unicodedata.normalize

Attribute, BinOp, Call, Constant, Dict = ast.Attribute, ast.BinOp, ast.Call, ast.Constant, ast.Dict
IfExp, JoinedStr, List, Load, Name = ast.IfExp, ast.JoinedStr, ast.List, ast.Load, ast.Name
NamedExpr, Set, Starred, Store, Tuple = ast.NamedExpr, ast.Set, ast.Starred, ast.Store, ast.Tuple
AST, Expr, FormattedValue = ast.AST, ast.Expr, ast.FormattedValue
_TEXTY = frozenset({Constant, JoinedStr, List, Tuple, Set, Dict, BinOp, IfExp, Starred, NamedExpr, Name})
_DISPLAYS = frozenset({List, Tuple, Set})

# Methods that are judged by how they are called: as values, they count as called with anything.
_CHECKED_CALLS = frozenset({"resize", "show"})


class TooLarge(ValueError):
    """The tree has more nodes, or its dump more bytes, than may be shown."""


class _Inner:
    """Stands for ``levels`` attribute nodes that were indexed with the outermost one."""

    __slots__ = ("base", "levels")

    def __init__(self, levels, base):
        self.levels = levels
        self.base = base


def _ascii_place(node):
    return f"{node.lineno}:{node.col_offset}:{node.end_lineno}:{node.end_col_offset}"


def _place_in(text):
    """Give the function that tells a node's place, in characters."""
    if text.isascii():
        return _ascii_place
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    encoded = {}

    def column(line, offset):
        if not 0 < line <= len(lines):
            return offset
        raw = encoded.get(line)
        if raw is None:
            source = lines[line - 1]
            raw = encoded[line] = b"" if source.isascii() else source.encode("utf-8", "surrogatepass")
        return len(raw[:offset].decode("utf-8", "replace")) if raw else offset

    def place(node):
        start, end = node.lineno, node.end_lineno
        return f"{start}:{column(start, node.col_offset)}:{end}:{column(end, node.end_col_offset)}"

    return place


def _clean(text):
    """Swap lone surrogates, which no JSON text can carry."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


class Base:
    """One walk over one tree, which keeps its own stack."""

    def __init__(self, text, known):
        self.place = _place_in(text)
        self.source = text
        self.lines = None
        self.sections = {name: {} for name in SECTIONS if name != "tree"}
        self.names = self.sections["names"]
        self.attributes = self.sections["attributes"]
        self.frames = []
        self.root = None
        self.nodes = 0
        self.depth = 1
        self.bindings = {}
        self.aliases = {name: list(paths) for name, paths in known.items() if name != "*"}
        self.stars = list(known.get("*", ()))
        self.chains = []
        self.loose = []
        self.called = []
        self.assigned = []
        self.hidden = []
        self.templates = []
        self.docstrings = []
        self.finals = []
        self.made = []
        self.shapes = {}
        self.text_room = TEXT_ROOM
        self.path_room = PATH_ROOM
        self.typers = {"type"}
        self.printed = {}
        self.linked = {}
        self.literal = {}
        self.harmless = set()
        self.unseen = []
        self.written = []
        self.fields_declared = []
        self.metaclasses = set()

    # -- entering findings ---------------------------------------------------

    def put(self, section, key, node):
        table = self.sections[section]
        places = table.get(key)
        if places is None:
            table[key] = [self.place(node)]
        elif len(places) < PLACES:
            places.append(self.place(node))
        else:
            self.cut(section, key)

    def record(self, section, key, entry, shape):
        """Enter an entry. Only entries of the same shape are cut, so that no
        number of harmless ones hides another."""
        shape = (section, key, shape)
        seen = self.shapes.get(shape, 0)
        if seen < PLACES:
            self.shapes[shape] = seen + 1
            self.sections[section].setdefault(key, []).append(entry)
        else:
            self.cut(section, key)

    def cut(self, section, key, more=1):
        counts = self.sections["truncated"].setdefault(section, {})
        counts[key] = counts.get(key, 0) + more

    def bind(self, name, how):
        hows = self.sections["bound"].setdefault(name, [])
        if how not in hows:
            hows.append(how)
        self.bindings[name] = self.bindings.get(name, 0) + 1

    def hide(self, name, node, role, after=None, on=None, base=None, value=None):
        self.hidden.append((name, node, role, after, on, base, value))

    def identifier(self, name, node, role, how=None):
        self.put("identifiers", name, node)
        if how is not None:
            self.bind(name, how)
        if name[0] == "_":
            self.hide(name, node, role)

    # -- the walk ------------------------------------------------------------

    def walk(self, tree, max_nodes):
        frames, current, table = self.frames, [tree], self.handlers
        while True:
            if not current:
                if not frames:
                    return
                current = frames.pop()
                continue
            node = current.pop()
            self.nodes += 1
            handler = table.get(node.__class__)
            children = handler(self, node) if handler is not None else self.unknown(node)
            if children:
                if self.nodes > max_nodes:
                    raise TooLarge(f"more than {max_nodes} nodes")
                frames.append(current)
                current = children
                if len(frames) >= self.depth:
                    self.depth = len(frames) + 1

    def use(self, node):
        """Enter a Name node."""
        name = node.id
        places = self.names.get(name)
        if places is None:
            self.names[name] = [self.place(node)]
        elif len(places) < PLACES:
            places.append(self.place(node))
        else:
            self.cut("names", name)
        stored = node.ctx.__class__ is Store
        if stored:
            self.bind(name, "assign")
        if name[0] == "_":
            self.hide(name, node, "bind" if stored else "name", value="names" if id(node) in self.harmless else None)
        return stored

    def chain(self, node, below, called=False, store=None):
        """Enter a chain of attributes whose outermost node is ``node`` and lies
        ``below`` levels under the node at hand; give what is left to visit."""
        parts = [node]
        base = node.value
        while base.__class__ is Attribute:
            parts.append(base)
            base = base.value
        parts.reverse()
        named = base.__class__ is Name
        attributes, place = self.attributes, self.place
        for position, part in enumerate(parts):
            attr = part.attr
            places = attributes.get(attr)
            if places is None:
                attributes[attr] = [place(part)]
            elif len(places) < PLACES:
                places.append(place(part))
            else:
                self.cut("attributes", attr)
            if attr[0] == "_":
                self.hide_part(parts, position, base, store)
            elif attr == "format":
                self.templates.append((part, called and part is node))
            elif attr in _CHECKED_CALLS and not (called and part is node):
                self.unseen.append(part)
        if store is not None:
            self.member(node.attr, node)
        if not named:
            if base.__class__ is NamedExpr:
                self.chains.append((base.target.id, parts, called, store))
            if below == 0 and len(parts) == 1:
                return [base]
            return [_Inner(len(parts) - 1 + below, base)]
        self.use(base)
        self.chains.append((base.id, parts, called, store))
        self.nodes += len(parts) + below
        if len(self.frames) + 1 + len(parts) + below > self.depth:
            self.depth = len(self.frames) + 1 + len(parts) + below
        return None

    def hide_part(self, parts, position, base, store):
        last = position == len(parts) - 1
        role = "store" if last and store is not None else "attribute"
        after = None if last else parts[position + 1].attr
        on = None
        if position == 0 and base.__class__ is Call and base.func.__class__ is Name:
            on = base.func.id + "()"
        elif position == 0 and base.__class__ is Name:
            on = base.id
        name = base.id if base.__class__ is Name else None
        self.hide(parts[position].attr, parts[position], role, after, on, name)

    def member(self, name, node):
        self.put("members", name, node)

    def unknown(self, node):
        """Enter a node of a class that this index does not know."""
        self.put_kind(node)
        children = []
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, AST):
                children.append(value)
            elif isinstance(value, list):
                children.extend(item for item in value if isinstance(item, AST))
        children.reverse()
        return children

    def put_kind(self, node):
        if hasattr(node, "lineno"):
            self.put("kinds", node.__class__.__name__, node)
        else:
            self.sections["kinds"].setdefault(node.__class__.__name__, [])

    def template(self, node):
        self.put("kinds", "TemplateStr", node)
        return node.values[::-1]

    # -- names that stand for something --------------------------------------

    def loop(self, target, source):
        if target.__class__ is Name and source.__class__ in _DISPLAYS:
            self.assigned.extend((target.id, item) for item in source.elts)

    def assign_to(self, target, value):
        if target.__class__ is Name:
            self.assigned.append((target.id, value))
        elif target.__class__ in _DISPLAYS and value.__class__ in _DISPLAYS:
            if len(target.elts) == len(value.elts):
                for left, right in zip(target.elts, value.elts, strict=True):
                    if left.__class__ is Name:
                        self.assigned.append((left.id, right))

    def target(self, target, value, kids):
        """Enter an assignment's target, or leave it to be visited."""
        self.assign_to(target, value)
        if target.__class__ is Attribute:
            rest = self.chain(target, 1, store=_kind_of(value))
            if rest:
                kids += rest
        else:
            kids.append(target)


def _parts_of(node):
    parts = []
    while node.__class__ is Attribute:
        parts.append(node.attr)
        node = node.value
    parts.reverse()
    return parts, node


def _kind_of(value):
    """Say what a stored value is, as far as a constant shows it."""
    if value.__class__ is ast.UnaryOp:
        value = value.operand
    if value.__class__ is Constant:
        kind = value.value.__class__
        if kind in (int, float, complex, bool):
            return "number"
        if kind is str:
            return "text"
        if value.value is None:
            return "none"
    return "other"
