"""How the index enters statements, imports among them."""

import ast
import re

from _runtime.index_base import (
    _clean, _DISPLAYS, Base, Call, Constant, Expr, Name, PATHS_PER_NAME, TooLarge,
)

_FUNCTIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef})
_FROM = re.compile(r"from[ \t\f]*([.\w]+)")


class Statements(Base):
    """Visitors give the nodes to visit next, the last one first."""

    def module(self, node):
        self.root = node
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
        self.harmless.add(id(node.annotation))
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
            self.harmless.add(id(node.returns))
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
        self.metaclasses.update(id(keyword.value) for keyword in node.keywords if keyword.arg == "metaclass")
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
            self.fields_declared.append((statement.target.id, statement.target))

    def field(self, name, node, value):
        self.member(name, node)
        if name in ("__slots__", "__match_args__") and value is not None:
            self.listed_members(name, node, value)
        if name[0] == "_":
            self.hide(name, node, "field", value="names" if id(node) in self.harmless else _word_for(value))

    def listed_members(self, name, node, value):
        """Enter the names that __slots__ or __match_args__ lists. A pattern reads the latter."""
        items = value.elts if value.__class__ in _DISPLAYS else (value,)
        texts = [item for item in items if item.__class__ is Constant and item.value.__class__ is str]
        for item in texts:
            if name == "__slots__":
                self.member(_clean(item.value), item)
            else:
                self.put("attributes", _clean(item.value), item)
                if item.value[:1] == "_":
                    self.hide(_clean(item.value), item, "pattern")
        if len(texts) == len(items) and value.__class__ in _DISPLAYS:
            self.harmless.add(id(node))

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
        self.harmless.add(id(node.annotation))
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
        at = self.module_place(node, module)
        for alias in node.names:
            entry = {"module": module, "name": alias.name, "at": at}
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

    def module_place(self, node, module):
        """Where the module of a from-import stands; the statement's, where that is not plain to see."""
        whole = self.place(node)
        line, column, _ = whole.split(":", 2)
        number = int(line)
        if self.lines is None:
            self.lines = self.source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if 0 < number <= len(self.lines):
            found = _FROM.match(self.lines[number - 1], int(column))
            if found and found.group(1) == module:
                return f"{line}:{found.start(1)}:{line}:{found.end(1)}"
        return whole

    def module_parts(self, rest, alias):
        if rest:
            for part in rest.split("."):
                self.put("attributes", part, alias)
                if part[0] == "_":
                    self.hide(part, alias, "import")

    def stand_for(self, name, path, alias):
        self.bind(name, "import")
        paths = self.aliases.setdefault(name, [])
        if path not in paths:
            if len(paths) >= PATHS_PER_NAME:
                raise TooLarge(f"a name that stands for more than {PATHS_PER_NAME} things")
            paths.append(path)
        if alias.asname is not None:
            self.put("identifiers", name, alias)
            if name[0] == "_":
                self.hide(name, alias, "bind")

    def alias(self, node):
        return None


def _word_for(value):
    """Say what a class attribute is set to: a name, "None", or "" for anything else."""
    if value.__class__ is Name:
        return value.id
    if value.__class__ is Constant and value.value is None:
        return "None"
    return ""
