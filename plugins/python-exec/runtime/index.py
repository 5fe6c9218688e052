"""The pyast/1 dump: what the policy sees of a Python program.

``dump`` turns a parsed module into the plugin's part of the policy's input
document: an index keyed by identifier and dotted path, and on request the whole
tree. The policy's JSON Schema (policies/schemas/pyast-1.json) describes every
section.

The walk keeps its own stack, so that no tree which CPython could parse exhausts
the interpreter's. Nothing is imported when a program is dumped: whatever the
dump needs is bound here, before any submitted code can run. The module must
never evaluate, compile or import what it describes.
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
PATHS_PER_NAME = 8  # dotted paths that one name may stand for
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
_TryStar = getattr(ast, "TryStar", None)
_TEXTY = frozenset({Constant, JoinedStr, List, Tuple, Set, Dict, BinOp, IfExp, Starred, NamedExpr, Name})
_DISPLAYS = frozenset({List, Tuple, Set})


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


class _Index:
    """One walk over one tree."""

    def __init__(self, text, known):
        self.place = _place_in(text)
        self.sections = {name: {} for name in SECTIONS if name != "tree"}
        self.names = self.sections["names"]
        self.attributes = self.sections["attributes"]
        self.frames = []
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
        frames, current, table = self.frames, [tree], _HANDLERS
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
            self.hide(name, node, "bind" if stored else "name")
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

    # -- expressions ---------------------------------------------------------

    def name(self, node):
        if not self.use(node):
            self.loose.append(node)

    def attribute(self, node):
        return self.chain(node, 0, store=None if node.ctx.__class__ is Load else "other")

    def inner(self, node):
        if node.levels <= 1:
            return [node.base]
        node.levels -= 1
        return [_Inner(node.levels, node.base)]

    def constant(self, node):
        value = node.value
        kind = value.__class__
        if kind is str:
            if len(value) > 2 and id(node) not in self.printed:
                self.text(value, node)
        elif kind is int:
            if value.bit_length() > BIG_INTEGER_BITS:
                self.put("integers", str(value.bit_length()), node)
        elif kind is bytes and len(value) > 2:
            self.text(value.decode("latin-1"), node)

    def text(self, value, node):
        if not value.isascii():
            value = _normalize("NFKC", _clean(value))
        if "__" in value:
            self.put("strings", value[:STRING_CHARS], node)
        elif "(" not in value and "." not in value:
            return
        for word in _WORD.findall(value):
            self.put("words", word, node)

    def call(self, node):
        self.called.append(node)
        func = node.func
        kids = []
        if node.keywords:
            kids.extend(node.keywords)
            kids.reverse()
        if node.args:
            kids += node.args[::-1]
        if func.__class__ is Name:
            self.use(func)
            self.nodes += 1
            if func.id == "print":
                self.print_call(node)
            if len(self.frames) + 2 > self.depth:
                self.depth = len(self.frames) + 2
        elif func.__class__ is Attribute:
            rest = self.chain(func, 1, called=True)
            if rest:
                kids += rest
        else:
            kids.append(func)
        return kids

    def print_call(self, node):
        """Remember the texts that a call of print does nothing with but write."""
        if any(keyword.arg in (None, "file") for keyword in node.keywords):
            return
        stack = list(node.args)
        while stack:
            arg = stack.pop()
            kind = arg.__class__
            if kind is Constant:
                self.printed[id(arg)] = arg
            elif kind is JoinedStr:
                stack += arg.values
            elif kind is BinOp:
                stack += (arg.left, arg.right)

    def keyword(self, node):
        if node.arg is not None:
            self.put("identifiers", node.arg, node)
            if node.arg[0] == "_":
                self.hide(node.arg, node, "keyword")
        return [node.value]

    def binary(self, node):
        return [node.right, node.left]

    def unary(self, node):
        return [node.operand]

    def values(self, node):
        return node.values[::-1]

    def elements(self, node):
        return node.elts[::-1]

    def dictionary(self, node):
        kids = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                kids.append(key)
            kids.append(value)
        kids.reverse()
        return kids

    def compare(self, node):
        kids = node.comparators[::-1]
        kids.append(node.left)
        return kids

    def subscript(self, node):
        return [node.slice, node.value]

    def slice(self, node):
        return [part for part in (node.step, node.upper, node.lower) if part is not None]

    def conditional(self, node):
        return [node.orelse, node.body, node.test]

    def single(self, node):
        return [node.value]

    def formatted(self, node):
        return [node.value] if node.format_spec is None else [node.format_spec, node.value]

    def named_expression(self, node):
        self.put("kinds", "NamedExpr", node)
        self.assigned.append((node.target.id, node.value))
        return [node.value, node.target]

    def waiting(self, node):
        self.put("kinds", node.__class__.__name__, node)
        return [node.value] if node.value is not None else None

    def function_expression(self, node):
        self.put("kinds", "Lambda", node)
        return [node.body, node.args]

    def comprehension_of(self, node):
        self.put("kinds", node.__class__.__name__, node)
        kids = node.generators[::-1]
        kids.append(node.elt)
        return kids

    def dictionary_comprehension(self, node):
        self.put("kinds", "DictComp", node)
        kids = node.generators[::-1]
        kids += (node.value, node.key)
        return kids

    def comprehension(self, node):
        if node.is_async:
            self.put("kinds", "AsyncComprehension", node.target)
        self.loop(node.target, node.iter)
        kids = node.ifs[::-1]
        kids += (node.iter, node.target)
        return kids

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

    # -- statements ----------------------------------------------------------

    def module(self, node):
        self.find_docstring(node)
        return node.body[::-1]

    def find_docstring(self, node):
        body = node.body
        if body and body[0].__class__ is Expr and body[0].value.__class__ is Constant:
            if body[0].value.value.__class__ is str:
                self.docstrings.append(body[0].value)

    def expression(self, node):
        self.put("kinds", "Expr", node)
        value = node.value
        if value.__class__ is Constant and value.value.__class__ is str:
            # A docstring or a comment in quotes: reachable by __doc__ alone.
            self.nodes += 1
            if len(self.frames) + 2 > self.depth:
                self.depth = len(self.frames) + 2
            return None
        return [value]

    def assign(self, node):
        self.put("kinds", "Assign", node)
        kids = [node.value]
        for target in reversed(node.targets):
            self.target(target, node.value, kids)
        return kids

    def augmented(self, node):
        self.put("kinds", "AugAssign", node)
        kids = [node.value]
        self.target(node.target, node.value, kids)
        return kids

    def annotated(self, node):
        self.put("kinds", "AnnAssign", node)
        kids = [] if node.value is None else [node.value]
        kids.append(node.annotation)
        if node.value is None:
            kids.append(node.target)
        else:
            self.target(node.target, node.value, kids)
        return kids

    def optional(self, node):
        self.put("kinds", node.__class__.__name__, node)
        return [node.value] if node.value is not None else None

    def bare(self, node):
        self.put("kinds", node.__class__.__name__, node)

    def delete(self, node):
        self.put("kinds", "Delete", node)
        return node.targets[::-1]

    def raising(self, node):
        self.put("kinds", "Raise", node)
        return [part for part in (node.cause, node.exc) if part is not None]

    def asserting(self, node):
        self.put("kinds", "Assert", node)
        return [node.test] if node.msg is None else [node.msg, node.test]

    def branch(self, node):
        self.put("kinds", node.__class__.__name__, node)
        kids = node.orelse[::-1]
        kids += node.body[::-1]
        kids.append(node.test)
        return kids

    def loop_statement(self, node):
        self.put("kinds", node.__class__.__name__, node)
        self.loop(node.target, node.iter)
        kids = node.orelse[::-1]
        kids += node.body[::-1]
        kids += (node.iter, node.target)
        return kids

    def attempt(self, node):
        self.put("kinds", node.__class__.__name__, node)
        if node.finalbody:
            self.finals.append(node)
        kids = node.finalbody[::-1]
        kids += node.orelse[::-1]
        kids += node.handlers[::-1]
        kids += node.body[::-1]
        return kids

    def handler(self, node):
        if node.name is not None:
            self.identifier(node.name, node, "bind", "except")
        kids = node.body[::-1]
        if node.type is not None:
            kids.append(node.type)
        return kids

    def with_statement(self, node):
        self.put("kinds", node.__class__.__name__, node)
        kids = node.body[::-1]
        kids += node.items[::-1]
        return kids

    def with_item(self, node):
        if node.optional_vars is None:
            return [node.context_expr]
        return [node.optional_vars, node.context_expr]

    def declaration(self, node):
        self.put("kinds", node.__class__.__name__, node)
        for name in node.names:
            self.identifier(name, node, "bind")

    def definition(self, node):
        self.put("kinds", node.__class__.__name__, node)
        self.identifier(node.name, node, "def", "def")
        self.find_docstring(node)
        self.decorate(node)
        kids = node.body[::-1]
        if node.returns is not None:
            kids.append(node.returns)
        kids.append(node.args)
        kids += getattr(node, "type_params", ())[::-1]
        kids += node.decorator_list[::-1]
        return kids

    def decorate(self, node):
        for decorator in node.decorator_list:
            core = decorator.func if decorator.__class__ is Call else decorator
            self.made.append(("decorators", core, decorator, None))

    def class_statement(self, node):
        self.put("kinds", "ClassDef", node)
        self.identifier(node.name, node, "def", "class")
        self.find_docstring(node)
        self.decorate(node)
        self.made.append(("classes", None, node, node.name))
        for statement in node.body:
            self.class_member(statement)
        kids = node.body[::-1]
        kids += node.keywords[::-1]
        kids += node.bases[::-1]
        kids += getattr(node, "type_params", ())[::-1]
        kids += node.decorator_list[::-1]
        return kids

    def class_member(self, statement):
        kind = statement.__class__
        if kind in _FUNCTIONS or kind is ast.ClassDef:
            self.member(statement.name, statement)
            if statement.name[0] == "_":
                self.hide(statement.name, statement, "method")
        elif kind is ast.Assign:
            for target in statement.targets:
                items = target.elts if target.__class__ in _DISPLAYS else (target,)
                for item in items:
                    if item.__class__ is Name:
                        self.field(item.id, item, statement.value if item is target else None)
        elif kind is ast.AnnAssign and statement.target.__class__ is Name:
            self.field(statement.target.id, statement.target, statement.value)

    def field(self, name, node, value):
        self.member(name, node)
        if name[0] == "_":
            self.hide(name, node, "field", value=_word_for(value))
        if name == "__slots__" and value is not None:
            items = value.elts if value.__class__ in _DISPLAYS else (value,)
            for item in items:
                if item.__class__ is Constant and item.value.__class__ is str:
                    self.member(_clean(item.value), item)

    def arguments(self, node):
        positional = node.posonlyargs + node.args
        for arg, default in zip(positional[len(positional) - len(node.defaults):], node.defaults, strict=True):
            self.assigned.append((arg.arg, default))
        for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
            if default is not None:
                self.assigned.append((arg.arg, default))
        kids = [] if node.kwarg is None else [node.kwarg]
        kids += [default for default in node.kw_defaults[::-1] if default is not None]
        kids += node.kwonlyargs[::-1]
        if node.vararg is not None:
            kids.append(node.vararg)
        kids += node.defaults[::-1]
        kids += positional[::-1]
        return kids

    def argument(self, node):
        self.identifier(node.arg, node, "bind", "argument")
        return [node.annotation] if node.annotation is not None else None

    # -- imports -------------------------------------------------------------

    def imports(self, node):
        self.put("kinds", "Import", node)
        for alias in node.names:
            entry = {"module": alias.name, "at": self.place(alias)}
            root, _, rest = alias.name.partition(".")
            if alias.asname is not None:
                entry["as"] = alias.asname
            self.record("imports", root, entry, (alias.name, None, alias.asname))
            self.module_parts(rest, alias)
            self.stand_for(alias.asname or root, alias.name if alias.asname else root, alias)
            self.put("paths", alias.name, alias)
        return node.names[::-1]

    def imports_from(self, node):
        self.put("kinds", "ImportFrom", node)
        module = "." * (node.level or 0) + (node.module or "")
        root = "." if node.level else module.partition(".")[0]
        dotted = module if module.endswith(".") else module + "."
        for alias in node.names:
            entry = {"module": module, "name": alias.name, "at": self.place(alias)}
            if alias.asname is not None:
                entry["as"] = alias.asname
            self.record("imports", root, entry, (module, alias.name, alias.asname))
            self.module_parts((node.module or "").partition(".")[2], alias)
            self.put("paths", module, alias)
            if alias.name == "*":
                self.stars.append(module)
                self.put("attributes", "*", alias)
                continue
            self.put("attributes", alias.name, alias)
            if alias.name[0] == "_":
                self.hide(alias.name, alias, "import")
            self.put("paths", dotted + alias.name, alias)
            self.stand_for(alias.asname or alias.name, dotted + alias.name, alias)
        return node.names[::-1]

    def module_parts(self, rest, alias):
        if rest:
            for part in rest.split("."):
                self.put("attributes", part, alias)
                if part[0] == "_":
                    self.hide(part, alias, "import")

    def stand_for(self, name, path, alias):
        self.bind(name, "import")
        paths = self.aliases.setdefault(name, [])
        if path not in paths and len(paths) < PATHS_PER_NAME:
            paths.append(path)
        if alias.asname is not None:
            self.put("identifiers", name, alias)
            if name[0] == "_":
                self.hide(name, alias, "bind")

    def alias(self, node):
        return None

    # -- patterns ------------------------------------------------------------

    def match_statement(self, node):
        self.put("kinds", "Match", node)
        kids = node.cases[::-1]
        kids.append(node.subject)
        return kids

    def match_case(self, node):
        kids = node.body[::-1]
        if node.guard is not None:
            kids.append(node.guard)
        kids.append(node.pattern)
        return kids

    def match_singleton(self, node):
        return None

    def patterns(self, node):
        return node.patterns[::-1]

    def match_mapping(self, node):
        if node.rest is not None:
            self.identifier(node.rest, node, "bind", "match")
        kids = node.patterns[::-1]
        kids += node.keys[::-1]
        return kids

    def match_class(self, node):
        for attr in node.kwd_attrs:
            self.put("attributes", attr, node)
            if attr[0] == "_":
                self.hide(attr, node, "pattern")
        kids = node.kwd_patterns[::-1]
        kids += node.patterns[::-1]
        kids.append(node.cls)
        return kids

    def match_star(self, node):
        if node.name is not None:
            self.identifier(node.name, node, "bind", "match")

    def match_as(self, node):
        if node.name is not None:
            self.identifier(node.name, node, "bind", "match")
        return [node.pattern] if node.pattern is not None else None

    # -- newer grammars ------------------------------------------------------

    def type_alias(self, node):
        self.put("kinds", "TypeAlias", node)
        kids = [node.value]
        kids += node.type_params[::-1]
        kids.append(node.name)
        return kids

    def type_parameter(self, node):
        self.identifier(node.name, node, "bind", "type")
        parts = (getattr(node, "default_value", None), getattr(node, "bound", None))
        return [part for part in parts if part is not None]

    # -- what is known only after the walk -----------------------------------

    def finish(self):
        self.follow()
        if self.aliases:
            self.resolve()
        self.resolve_calls()
        self.resolve_templates()
        self.resolve_made()
        self.resolve_hidden()
        if "__doc__" in self.attributes or "__doc__" in self.names:
            for node in self.docstrings:
                self.text(node.value, node)
        if "print" in self.bindings:
            for node in self.printed.values():
                if node.value.__class__ is str:
                    self.text(node.value, node)
        if self.finals:
            self.sections["nesting"]["finally"] = _final_depth(self.finals)

    def follow(self):
        """Let names stand for what is assigned to them: imported things and texts."""
        texts = self.texts = {}
        links = []
        for name, value in self.assigned:
            kind = value.__class__
            if kind is Name:
                links.append((name, value.id, ()))
                if value.id == "type":
                    self.typers.add(name)
            elif kind is Attribute:
                parts, base = _parts_of(value)
                if base.__class__ is Name:
                    links.append((name, base.id, parts))
            elif kind is not Constant or value.value.__class__ is str:
                if kind in _TEXTY:
                    if kind is Constant:
                        self.literal[name] = self.literal.get(name, 0) + 1
                    found = texts.setdefault(name, [])
                    if len(found) <= TEXTS:
                        _texts_in(value, found, {})
        if not self.aliases or not links:
            return
        counts = self.linked
        for name, _, _ in links:
            counts[name] = counts.get(name, 0) + 1
        for _ in range(4):
            if not self.follow_links(links):
                return

    def follow_links(self, links):
        grown = False
        for name, base, parts in links:
            if base == name:
                continue
            for path in self.aliases.get(base, ()):
                longer = ".".join((path, *parts)) if parts else path
                paths = self.aliases.setdefault(name, [])
                if longer in paths or len(paths) >= PATHS_PER_NAME or longer.count(".") >= PATH_PARTS:
                    continue
                if len(longer) > PATH_CHARS:
                    continue
                paths.append(longer)
                grown = True
        return grown

    def resolve(self):
        aliases, names = self.aliases, self.names
        for base, parts, called, store in self.chains:
            for path in aliases.get(base, ()):
                full = path
                for part in parts[:PATH_PARTS]:
                    full = f"{full}.{part.attr}"
                    self.path_room -= len(full)
                    self.put("paths", full, part)
                if self.path_room < 0:
                    raise TooLarge(f"more than {PATH_ROOM} characters of paths")
                if store is not None:
                    # A name that is bound to other things as well stands for those.
                    bound = self.sections["bound"].get(base, ("import",))
                    if self.linked.get(base, 0) < self.bindings.get(base, 0) and "import" not in bound:
                        continue
                    self.record("stores", full, {"at": self.place(parts[-1]), "value": store}, store)
                elif not called:
                    self.put("values", full, parts[-1])
        for node in self.loose:
            for path in aliases.get(node.id, ()):
                self.put("values", path, node)
        paths = self.sections["paths"]
        for name, found in aliases.items():
            places = names.get(name)
            if places:
                for path in found:
                    if "." in path:
                        self.extend("paths", paths.setdefault(path, []), path, places)

    def extend(self, section, entries, key, places):
        room = PLACES - len(entries)
        entries.extend(places[:room])
        if len(places) > room:
            self.cut(section, key, len(places) - room)

    def resolve_calls(self):
        aliases, bound = self.aliases, self.sections["bound"]
        for node in self.called:
            func = node.func
            if func.__class__ is Name:
                name = func.id
                if name in aliases:
                    keys = aliases[name]
                elif name in self.typers and (len(node.args) > 1 or node.keywords or self.starred(node.args)):
                    keys = ("type",)
                elif self.stars and name not in bound and name not in _BUILTINS:
                    keys = (name,)
                else:
                    continue
            elif func.__class__ is Attribute:
                parts, base = _parts_of(func)
                if base.__class__ is Name and base.id in aliases:
                    keys = [".".join((path, *parts[:PATH_PARTS])) for path in aliases[base.id]]
                else:
                    keys = ("." + func.attr,)
            else:
                continue
            entry = self.call_entry(node)
            if "texts" not in entry and "keywords" not in entry and keys != ("type",):
                continue
            shape = (
                entry["args"], tuple(entry.get("keywords", ())), tuple(entry.get("text", ())),
                tuple(entry.get("texts", ())), "cut" in entry,
            )
            for key in keys:
                self.record("calls", key, entry, shape)

    def starred(self, args):
        return any(arg.__class__ is Starred for arg in args)

    def call_entry(self, node):
        entry = {"at": self.place(node), "args": len(node.args)}
        texts = []
        indexes = []
        for index, arg in enumerate(node.args):
            if arg.__class__ in _TEXTY:
                before = len(texts)
                _texts_in(arg, texts, self.texts)
                if len(texts) > before:
                    indexes.append(index)
        keywords = []
        for keyword in node.keywords:
            keywords.append(keyword.arg or "**")
            if keyword.value.__class__ in _TEXTY:
                _texts_in(keyword.value, texts, self.texts)
        if keywords:
            entry["keywords"] = keywords
        if indexes:
            entry["text"] = indexes
        if texts:
            kept = [_clean(text[:TEXT_CHARS]) for text in texts[:TEXTS]]
            self.text_room -= sum(map(len, kept))
            if len(texts) > TEXTS or any(len(text) > TEXT_CHARS for text in texts) or self.text_room < 0:
                entry["cut"] = True
            entry["texts"] = kept if self.text_room >= 0 else []
        return entry

    def resolve_templates(self):
        for part, called in self.templates:
            receiver = part.value
            found = []
            sure = False
            if receiver.__class__ is Constant and receiver.value.__class__ is str:
                found, sure = [receiver.value], True
            elif receiver.__class__ is Name:
                if receiver.id == "str" and "str" not in self.sections["bound"]:
                    self.put("formats", "unbound", part)
                    continue
                found = self.texts.get(receiver.id, ())
                sure = self.literal.get(receiver.id, 0) >= self.bindings.get(receiver.id, 1)
            for template in found:
                self.fields(template, part, 0)
            if not sure:
                self.put("formats", "dynamic" if called else "value", part)

    def fields(self, template, node, level):
        try:
            for _, field, spec, _ in _parse_format(template):
                if field is not None:
                    for is_attribute, name in _split_field(field)[1]:
                        if is_attribute and name:
                            name = _normalize("NFKC", _clean(name))
                            self.put("attributes", name, node)
                            if name[0] == "_":
                                self.hide(name, node, "format")
                if spec and "{" in spec and level < 2:
                    self.fields(spec, node, level + 1)
        except ValueError:
            return

    def resolve_made(self):
        for section, core, node, name in self.made:
            if section == "decorators":
                self.put("decorators", self.dotted(core), node)
                continue
            entry = {"at": self.place(node), "bases": [self.dotted(base) for base in node.bases]}
            if node.keywords:
                entry["keywords"] = [keyword.arg or "**" for keyword in node.keywords]
                for keyword in node.keywords:
                    if keyword.arg == "metaclass":
                        entry["metaclass"] = self.dotted(keyword.value)
            shape = (tuple(entry["bases"]), tuple(entry.get("keywords", ())), entry.get("metaclass"))
            self.record("classes", name, entry, shape)

    def dotted(self, node):
        """Give a name or attribute chain as text, imports followed; "" for anything else."""
        parts, base = _parts_of(node)
        if base.__class__ is not Name:
            return ""
        root = self.aliases.get(base.id, (base.id,))[0]
        return ".".join((root, *parts[:PATH_PARTS]))

    def resolve_hidden(self):
        for name, node, role, after, on, base, value in self.hidden:
            entry = {"at": self.place(node), "as": role}
            if base is not None and base in self.aliases:
                entry["on"] = self.aliases[base][0]
            elif on is not None:
                entry["on"] = on
            if after is not None:
                entry["next"] = after
            if value is not None:
                entry["value"] = value
            self.record("private", name, entry, (role, entry.get("on"), after, value))


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


def _word_for(value):
    """Say what a class attribute is set to: a name, "None", or "" for anything else."""
    if value.__class__ is Name:
        return value.id
    if value.__class__ is Constant and value.value is None:
        return "None"
    return ""


def _texts_in(node, found, known):
    """Gather the texts that an argument holds, not those of calls inside it."""
    stack = [node]
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind is Constant:
            if node.value.__class__ is str:
                found.append(node.value)
        elif kind is Name:
            found.extend(known.get(node.id, ()))
        elif kind in _DISPLAYS:
            stack += [item for item in node.elts[::-1] if item.__class__ in _TEXTY]
        elif kind is JoinedStr:
            stack += node.values[::-1]
        elif kind is Dict:
            for key, value in zip(node.keys[::-1], node.values[::-1], strict=True):
                stack.append(value)
                if key is not None:
                    stack.append(key)
        elif kind is BinOp:
            stack += (node.right, node.left)
        elif kind is IfExp:
            stack += (node.orelse, node.body)
        elif kind is Starred or kind is NamedExpr:
            stack.append(node.value)
        if len(found) > TEXTS:
            return


def _final_depth(tries):
    """How deep try statements are nested in finally blocks."""
    known = {id(node) for node in tries}
    best = {}
    for node in reversed(tries):
        inside = 0
        stack = list(node.finalbody)
        while stack:
            child = stack.pop()
            if id(child) in known:
                inside = max(inside, best.get(id(child), 1))
                continue
            for field in ("body", "orelse", "handlers", "finalbody", "cases"):
                stack.extend(getattr(child, field, None) or ())
        best[id(node)] = inside + 1
    return max(best.values())


_FUNCTIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef})


def _handlers():
    one = _Index
    table = {
        "Module": one.module, "Expression": lambda self, node: [node.body], "Interactive": one.module,
        "Name": one.name, "Attribute": one.attribute, "Constant": one.constant, "Call": one.call,
        "keyword": one.keyword, "BinOp": one.binary, "UnaryOp": one.unary, "BoolOp": one.values,
        "List": one.elements, "Tuple": one.elements, "Set": one.elements, "Dict": one.dictionary,
        "Compare": one.compare, "Subscript": one.subscript, "Slice": one.slice, "IfExp": one.conditional,
        "Starred": one.single, "JoinedStr": one.values, "FormattedValue": one.formatted,
        "NamedExpr": one.named_expression, "Await": one.waiting, "Yield": one.waiting,
        "YieldFrom": one.waiting, "Lambda": one.function_expression, "ListComp": one.comprehension_of,
        "SetComp": one.comprehension_of, "GeneratorExp": one.comprehension_of,
        "DictComp": one.dictionary_comprehension, "comprehension": one.comprehension,
        "Expr": one.expression, "Assign": one.assign, "AugAssign": one.augmented,
        "AnnAssign": one.annotated, "Return": one.optional, "Delete": one.delete, "Raise": one.raising,
        "Assert": one.asserting, "Pass": one.bare, "Break": one.bare, "Continue": one.bare,
        "If": one.branch, "While": one.branch, "For": one.loop_statement, "AsyncFor": one.loop_statement,
        "Try": one.attempt, "TryStar": one.attempt, "ExceptHandler": one.handler,
        "With": one.with_statement, "AsyncWith": one.with_statement, "withitem": one.with_item,
        "Global": one.declaration, "Nonlocal": one.declaration, "FunctionDef": one.definition,
        "AsyncFunctionDef": one.definition, "ClassDef": one.class_statement, "arguments": one.arguments,
        "arg": one.argument, "Import": one.imports, "ImportFrom": one.imports_from, "alias": one.alias,
        "Match": one.match_statement, "match_case": one.match_case, "MatchValue": one.single,
        "MatchSingleton": one.match_singleton, "MatchSequence": one.patterns, "MatchOr": one.patterns,
        "MatchMapping": one.match_mapping, "MatchClass": one.match_class, "MatchStar": one.match_star,
        "MatchAs": one.match_as, "TypeAlias": one.type_alias, "TypeVar": one.type_parameter,
        "ParamSpec": one.type_parameter, "TypeVarTuple": one.type_parameter,
        "TemplateStr": one.template, "Interpolation": one.formatted,
    }
    found = {getattr(ast, name): handler for name, handler in table.items() if hasattr(ast, name)}
    found[_Inner] = one.inner
    return found


_HANDLERS = _handlers()


def _source_facts(text, facts):
    for name, pattern in (("bidi", _BIDI),):
        if not text.isascii():
            match = pattern.search(text)
            if match is not None:
                facts[name] = [_place_of(text, match.start())]
    if "coding" in text[:400]:
        for number, line in enumerate(text.split("\n", 2)[:2], 1):
            match = _COOKIE.match(line)
            if match is not None:
                facts["coding:" + match.group(1).lower().replace("_", "-")] = [f"{number}:0:{number}:{len(line)}"]
                return


def _place_of(text, offset):
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1)
    return f"{line}:{column}:{line}:{column + 1}"


# -- the whole tree ----------------------------------------------------------


def _constant_json(value):
    """Give a constant as JSON; what JSON cannot carry becomes {"_const", "value"}."""
    kind = value.__class__
    if value is None or kind is bool:
        return "null" if value is None else ("true" if value else "false")
    if kind is str:
        if _SURROGATE.search(value) is None:
            return _encode(value)
        return _encode({"_const": "str", "value": ascii(value)})
    if kind is int:
        if -(1 << 53) < value < (1 << 53):
            return str(value)
        return _encode({"_const": "int", "value": hex(value)})
    if kind is float and value - value == 0:
        return repr(value)
    if kind is bytes:
        return _encode({"_const": "bytes", "value": value.hex()})
    if value is Ellipsis:
        return '{"_const":"Ellipsis"}'
    return _encode({"_const": kind.__name__, "value": repr(value)})


def _tree_json(tree, place, max_bytes):
    """Write the whole tree as JSON, without recursion."""
    parts = []
    size = 0
    stack = [tree]
    while stack:
        item = stack.pop()
        if item.__class__ is str:
            parts.append(item)
            size += len(item)
            if size > max_bytes:
                raise TooLarge(f"more than {max_bytes} bytes")
            continue
        head = f'{{"_type":"{item.__class__.__name__}"'
        if "lineno" in item._attributes and hasattr(item, "lineno"):
            head += f',"loc":"{place(item)}"'
        later = []
        for field in item._fields:
            value = getattr(item, field, None)
            if value is None and field != "value":
                continue
            _field_json(field, value, item, later)
        stack.append("}")
        stack.extend(reversed(later))
        stack.append(head)
    return "".join(parts)


def _field_json(field, value, owner, later):
    if isinstance(value, AST):
        if not value._fields:
            later.append(f',"{field}":"{value.__class__.__name__}"')
            return
        later += (f',"{field}":', value)
    elif isinstance(value, list):
        later.append(f',"{field}":[')
        for index, item in enumerate(value):
            if index:
                later.append(",")
            if not isinstance(item, AST):
                later.append(_constant_json(item))
            elif item._fields:
                later.append(item)
            else:
                later.append(f'"{item.__class__.__name__}"')
        later.append("]")
    else:
        later.append(f',"{field}":{_constant_json(value)}')


def dump(tree, text, sections=None, *, code=None, known=None, max_nodes=MAX_NODES, max_bytes=MAX_BYTES):
    """Give the document of a parsed module: (UTF-8 JSON, nodes, depth).

    ``text`` is the text that was parsed; ``code`` its bytes as submitted, when they
    differ from its UTF-8 form. ``sections`` names the parts wanted; None: all.
    ``known`` says what names stand for from earlier cells of a session: a section
    "aliases" of those, or several merged.
    Nodes are counted without contexts and operators. Raises TooLarge.
    """
    index = _Index(text, known or {})
    index.walk(tree, max_nodes)
    index.finish()
    _source_facts(text, index.sections["source"])
    index.sections["aliases"].update(index.aliases)
    if index.stars:
        index.sections["aliases"]["*"] = index.stars
    found = index.sections["found"]
    for name in RARE:
        if index.sections[name]:
            found[name] = True
    if index.stars:
        found["star"] = True
    wanted = index.sections if sections is None else {
        name: index.sections[name] for name in SECTIONS if name in sections and name != "tree"
    }
    wanted["truncated"] = index.sections["truncated"]
    raw = text.encode("utf-8", "surrogatepass") if code is None else code
    head = _encode({
        "schema": SCHEMA, "language": "python", "grammar": GRAMMAR,
        "code": {
            "sha256": _sha256(raw).hexdigest(), "bytes": len(raw),
            "lines": text.count("\n") + (not text.endswith("\n") and bool(text)),
            "nodes": index.nodes, "depth": index.depth,
        },
        "ast": wanted,
    })
    if sections is None or "tree" in sections:
        head = f'{head[:-2]},"tree":{_tree_json(tree, index.place, max_bytes)}}}}}'
    document = head.encode("utf-8")
    if len(document) > max_bytes:
        raise TooLarge(f"more than {max_bytes} bytes")
    return document, index.nodes, index.depth
