"""Lists the sets of names in a Python file: the program of `python-exec extract`.

The file comes on standard input and is parsed, never imported, compiled or
evaluated: what is found is read off its syntax tree. The answer is one JSON
object on standard output:

    {"sets": [{"name", "kind", "line", "entries"}],      bound to texts, in order of their names
     "skipped": [{"name", "line", "why"}],               bound, but to nothing that can be read off
     "guards": {"denied_nodes": […], "private_attributes": bool, "private_names": bool}}

or {"error": {"message", "line", "column"}} for a file that is refused.
"""

import ast
import json
import sys

MAX_BYTES = 1 << 20
MAX_ENTRIES = 10_000  # of one set
MAX_TOTAL = 50_000  # of all sets
MAX_CHARS = 200  # of an entry
MAX_NAMES = 5_000
MAX_DEPTH = 50  # of unions in unions
SECONDS = 10
MEMORY = 1 << 30

CONDITIONAL = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match, getattr(ast, "TryStar", ast.Try))
KINDS = {ast.Set: "set", ast.List: "list", ast.Tuple: "tuple", ast.Dict: "dict"}
MAKERS = {"set", "frozenset", "list", "tuple", "dict", "sorted"}
CHANGERS = {
    "add", "append", "clear", "difference_update", "discard", "extend", "insert", "intersection_update", "pop", "popitem",
    "remove", "setdefault", "symmetric_difference_update", "update",
}


class NotLiteral(Exception):
    """What is bound cannot be read off the tree; says why."""


class Sets:
    """Follows the statements of a module in order; a later binding wins."""

    def __init__(self):
        self.known = {}  # name: (kind, line, frozenset of entries)
        self.skipped = {}  # name: (line, why)
        self.bound = set()  # every name bound so far, for shadowed builtins

    def module(self, tree):
        for statement in tree.body:
            self.statement(statement)
        for node in ast.walk(tree):
            self.change(node)

    def statement(self, node):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.bind(target.id, node.value, node.lineno)
                else:
                    self.drop(target, "bound by unpacking, or changed in part")
        elif isinstance(node, ast.AnnAssign):
            if isinstance(node.target, ast.Name):
                if node.value is not None:
                    self.bind(node.target.id, node.value, node.lineno)
            else:
                self.drop(node.target, "changed in part")
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            left = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
            self.bind(node.target.id, ast.copy_location(ast.BinOp(left, node.op, node.value), node), node.lineno)
        elif isinstance(node, CONDITIONAL):
            self.drop(node, "bound conditionally or in a block")
        elif isinstance(node, (ast.AugAssign, ast.Delete)):
            self.drop(node, "changed in part or taken away")
        else:
            self.drop(node, "")

    def drop(self, node, why):
        """Every name that is bound in here is no literal."""
        for name, line in bindings(node):
            self.bound.add(name)
            self.known.pop(name, None)
            self.skipped.pop(name, None)
            if why:
                self.skip(name, line, "not a literal: " + why)

    def skip(self, name, line, why):
        self.known.pop(name, None)
        if len(self.skipped) < MAX_NAMES:
            self.skipped[name] = (line, why)

    def bind(self, name, value, line):
        try:
            found = self.read(value, 0)
        except NotLiteral as reason:
            self.bound.add(name)
            self.skip(name, line, str(reason))
            return
        self.bound.add(name)
        self.skipped.pop(name, None)
        self.known.pop(name, None)
        if found is not None and len(self.known) < MAX_NAMES:
            kind, entries = found
            self.known[name] = (kind, line, entries)

    def read(self, node, depth):
        """(kind, entries) of an expression; None when it is plainly no collection."""
        if depth > MAX_DEPTH:
            raise NotLiteral("not a literal: nested too deeply")
        if isinstance(node, (ast.Constant, ast.Lambda, ast.JoinedStr, ast.Compare, ast.UnaryOp)):
            return None
        if isinstance(node, (ast.Set, ast.List, ast.Tuple)):
            return KINDS[type(node)], self.entries(node.elts, depth)
        if isinstance(node, ast.Dict):
            return "dict", self.keys(node, depth)
        if isinstance(node, ast.Name):
            if node.id in self.known:
                kind, _, entries = self.known[node.id]
                return kind, entries
            raise NotLiteral("not a literal: %.100s is not known" % node.id)
        if isinstance(node, ast.Call):
            return self.made(node, depth)
        if isinstance(node, ast.BinOp):
            return self.joined(node, depth)
        raise NotLiteral("not a literal: %s" % type(node).__name__)

    def collection(self, node, depth):
        found = self.read(node, depth + 1)
        if found is None:
            raise NotLiteral("not a literal: a part is no collection of texts")
        return found

    def entries(self, nodes, depth):
        found = set()
        for node in nodes:
            if isinstance(node, ast.Starred):
                found |= self.collection(node.value, depth)[1]
            else:
                found.add(text_of(node))
            if len(found) > MAX_ENTRIES:
                raise NotLiteral("more than %d entries" % MAX_ENTRIES)
        return frozenset(found)

    def keys(self, node, depth):
        found = set()
        for key, value in zip(node.keys, node.values):
            if key is None:
                found |= self.collection(value, depth)[1]
                continue
            if not isinstance(value, ast.Constant):
                raise NotLiteral("not a literal: a value that is no constant")
            found.add(text_of(key))
            if len(found) > MAX_ENTRIES:
                raise NotLiteral("more than %d entries" % MAX_ENTRIES)
        return frozenset(found)

    def made(self, node, depth):
        """A call of set, frozenset and the like, or of a set's union."""
        function = node.func
        if node.keywords:
            raise NotLiteral("not a literal: computed by a call")
        if isinstance(function, ast.Attribute) and function.attr == "union":
            kind, found = self.collection(function.value, depth)
            if kind not in ("set", "frozenset"):
                raise NotLiteral("not a literal: union of a %s" % kind)
            return kind, self.bounded(found.union(*(self.collection(a, depth)[1] for a in node.args)))
        if not isinstance(function, ast.Name) or function.id not in MAKERS or function.id in self.bound:
            raise NotLiteral("not a literal: computed by a call")
        if not node.args:
            return function.id, frozenset()
        if len(node.args) > 1:
            raise NotLiteral("not a literal: computed by a call")
        kind, found = self.collection(node.args[0], depth)
        if function.id == "dict" and kind != "dict":
            raise NotLiteral("not a literal: a dict of a %s" % kind)
        return ("list" if function.id == "sorted" else function.id), found

    def joined(self, node, depth):
        """Unions and the like, the left side without recursion."""
        chain = []
        while isinstance(node, ast.BinOp):
            chain.append((node.op, node.right))
            node = node.left
        kind, found = self.collection(node, depth)
        for op, right in reversed(chain):
            other, entries = self.collection(right, depth)
            sets = kind in ("set", "frozenset") and other in ("set", "frozenset")
            if isinstance(op, ast.BitOr) and (sets or kind == other == "dict"):
                found |= entries
            elif isinstance(op, ast.BitAnd) and sets:
                found &= entries
            elif isinstance(op, ast.Sub) and sets:
                found -= entries
            elif isinstance(op, ast.BitXor) and sets:
                found ^= entries
            elif isinstance(op, ast.Add) and kind == other and kind in ("list", "tuple"):
                found |= entries
            else:
                raise NotLiteral("not a literal: computed by an operator")
            self.bounded(found)
        return kind, found

    def bounded(self, found):
        if len(found) > MAX_ENTRIES:
            raise NotLiteral("more than %d entries" % MAX_ENTRIES)
        return found

    def change(self, node):
        """Takes out what is changed somewhere after it was bound."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            if node.func.attr in CHANGERS and node.func.value.id in self.known:
                self.skip(node.func.value.id, node.lineno, "not a literal: changed by .%s" % node.func.attr)
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            if node.value.id in self.known:
                self.skip(node.value.id, node.lineno, "not a literal: changed in part")
        elif isinstance(node, ast.Global):
            for name in node.names:
                if name in self.known:
                    self.skip(name, node.lineno, "not a literal: a function may bind it")

    def answer(self):
        total = sum(len(entries) for _, _, entries in self.known.values())
        if total > MAX_TOTAL:
            raise Refused("the sets have more than %d entries together" % MAX_TOTAL)
        return {
            "sets": [
                {"name": name, "kind": kind, "line": line, "entries": sorted(entries)}
                for name, (kind, line, entries) in sorted(self.known.items())
            ],
            "skipped": [{"name": name, "line": line, "why": why} for name, (line, why) in sorted(self.skipped.items())],
        }


class Refused(Exception):
    """The file is not read."""


def text_of(node):
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise NotLiteral("not a literal: an entry is no text")
    if len(node.value) > MAX_CHARS or not node.value.isprintable():
        raise NotLiteral("an entry is longer than %d characters or not printable" % MAX_CHARS)
    return node.value


def bindings(node):
    """(name, line) of what a statement binds in the module; functions and classes inside bind their own."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                yield node.id, node.lineno
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node.lineno
            waiting.extend(node.decorator_list)
            continue
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0], node.lineno
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Name):
                yield node.value.id, node.lineno
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name, node.lineno
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name, node.lineno
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest, node.lineno
        elif isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            continue
        waiting.extend(ast.iter_child_nodes(node))


def guards(tree):
    """What the file refuses in code: `if isinstance(NODE, ast.X): raise` and
    `if isinstance(NODE, ast.X) and NODE.FIELD.startswith("_"): raise`."""
    denied, private = set(), set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.If) or len(node.body) != 1 or not isinstance(node.body[0], ast.Raise):
            continue
        kinds = tested(node.test)
        if kinds:
            denied |= kinds
        elif isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) and len(node.test.values) == 2:
            first, second = node.test.values
            if begins_with_underscore(second):
                private |= tested(first)
    return {
        "denied_nodes": sorted(name for name in denied if len(name) <= MAX_CHARS)[:MAX_ENTRIES],
        "private_attributes": "Attribute" in private,
        "private_names": "Name" in private,
    }


def tested(node):
    """Names of the classes in isinstance(x, ast.A) or isinstance(x, (ast.A, ast.B))."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "isinstance" or len(node.args) != 2:
        return set()
    wanted = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
    names = set()
    for kind in wanted:
        if isinstance(kind, ast.Attribute) and isinstance(kind.value, ast.Name) and kind.value.id == "ast":
            names.add(kind.attr)
        else:
            return set()
    return names


def begins_with_underscore(node):
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "startswith":
        return False
    given = node.args[0] if len(node.args) == 1 and not node.keywords else None
    return isinstance(given, ast.Constant) and given.value in ("_", "__")


def extract(data):
    if len(data) > MAX_BYTES:
        raise Refused("the file is larger than %d bytes" % MAX_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused("the file is not UTF-8") from None
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise Refused("the file does not parse: %s" % error.msg, error.lineno, error.offset) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Refused("the file does not parse: %s" % (str(error)[:200] or type(error).__name__)) from None
    sets = Sets()
    sets.module(tree)
    answer = sets.answer()
    answer["guards"] = guards(tree)
    return answer


def limit():
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def main():
    limit()
    try:
        answer = extract(sys.stdin.buffer.read(MAX_BYTES + 1))
    except Refused as refused:
        message, line, column = (*refused.args, None, None)[:3]
        answer = {"error": {"message": message, "line": line or 0, "column": column or 0}}
    except (RecursionError, MemoryError):
        answer = {"error": {"message": "the file is nested too deeply", "line": 0, "column": 0}}
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
