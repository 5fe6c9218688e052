"""Which names can mean nothing but what the program binds, wherever they are read.

A name is firm when each place that reads it is certain to find the program's own
binding: inside a function whose local it is, or at a later line than a statement of
the module's top level that binds it. A binding that may not be run (in a branch, in
another function) makes no name firm. Only names that would otherwise mean something
of the interpreter's, or of a star import, are looked at.
"""

import ast

from _runtime.index_base import _BUILTINS, _DISPLAYS, Base, Name, Store

_children = ast.iter_child_nodes
_SITE = frozenset({"copyright", "credits", "exit", "help", "license", "quit"})
_DEFINITIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef})
_FUNCTIONS = _DEFINITIONS | {ast.Lambda}
_COMPREHENSIONS = frozenset({ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp})


def _walk(node):
    """As ast.walk, which imports when it is called."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack += _children(node)


class Scopes(Base):
    """Adds "firm" to how a name is bound."""

    def find_firm(self):
        bound = self.sections["bound"]
        wanted = {
            name for name in bound
            if name in self.names and (self.stars or name in _BUILTINS or name in _SITE)
        }
        if not wanted:
            return
        reader = _Reader(wanted)
        reader.read(self.root)
        for name in wanted - reader.loose:
            bound[name].append("firm")


class _Reader:
    """Reads a module once, in the order of its text, with a stack of its own."""

    def __init__(self, wanted):
        self.wanted = wanted
        self.firm = set()  # bound by a statement of the top level that has been read
        self.loose = set()  # read where the binding is not certain
        self.overlaid = False  # a star import in a branch may bind any name anew
        self.declared = set()  # by global: not local to the function that binds them

    def read(self, module):
        nested = 0
        for node in _walk(module):
            kind = node.__class__
            if kind is ast.Global:
                self.declared.update(node.names)
            elif kind is ast.ExceptHandler and node.name in self.wanted:
                self.loose.add(node.name)  # unbound again at the handler's end
            elif kind is ast.ImportFrom and node.names[0].name == "*":
                nested += 1
        nested -= sum(1 for node in module.body if node.__class__ is ast.ImportFrom and node.names[0].name == "*")
        self.overlaid = nested > 0
        for statement in module.body:
            late = statement.__class__ in _DEFINITIONS
            self.visit(statement, frozenset())
            self.settle(statement, late)

    def settle(self, statement, late):
        """Take in what a statement of the top level has bound or unbound."""
        if self.overlaid:
            return
        kind = statement.__class__
        if late or kind is ast.ClassDef:
            self.firm.add(statement.name)
        elif kind is ast.Assign:
            for target in statement.targets:
                self.bind(target)
        elif kind is ast.AnnAssign and statement.value is not None:
            self.bind(statement.target)
        elif kind is ast.Import:
            self.firm.update(alias.asname or alias.name.partition(".")[0] for alias in statement.names)
        elif kind is ast.ImportFrom:
            if any(alias.name == "*" for alias in statement.names):
                self.firm.clear()
            self.firm.update(alias.asname or alias.name for alias in statement.names)

    def bind(self, target):
        stack = [target]
        while stack:
            node = stack.pop()
            if node.__class__ is Name:
                self.firm.add(node.id)
            elif node.__class__ in _DISPLAYS:
                stack += node.elts
            elif node.__class__ is ast.Starred:
                stack.append(node.value)

    def visit(self, node, local):
        """Look at every name under a node; ``local`` are those of the functions around it."""
        stack = [(node, local)]
        while stack:
            node, local = stack.pop()
            kind = node.__class__
            if kind is Name:
                self.look(node, local)
                continue
            if kind in _FUNCTIONS:
                stack += self.function(node, local)
                continue
            if kind in _COMPREHENSIONS:
                stack += self.comprehension(node, local)
                continue
            if kind is ast.For and not self.overlaid:
                # Inside the loop its variables are bound; after it perhaps not.
                inner = local | (_names_in(node.target) & self.wanted)
                stack += ((child, inner) for child in node.body)
                stack += ((child, local) for child in (node.iter, *node.orelse))
                continue
            stack += ((child, local) for child in _children(node))

    def look(self, node, local):
        name = node.id
        if name not in self.wanted:
            return
        kind = node.ctx.__class__
        if kind is ast.Del:
            self.loose.add(name)
        elif kind is not Store and name not in local and name not in self.firm:
            self.loose.add(name)

    def function(self, node, local):
        args = node.args
        every = args.posonlyargs + args.args + args.kwonlyargs + [arg for arg in (args.vararg, args.kwarg) if arg]
        mine = {arg.arg for arg in every}
        body = [node.body] if node.__class__ is ast.Lambda else node.body
        if node.__class__ is not ast.Lambda:
            mine |= _bound_in(body) - self.declared
        inner = local | (mine & self.wanted)
        outer = [*args.defaults, *(default for default in args.kw_defaults if default is not None)]
        outer += (arg.annotation for arg in every if arg.annotation is not None)
        outer += getattr(node, "decorator_list", ())
        if getattr(node, "returns", None) is not None:
            outer.append(node.returns)
        return [(child, inner) for child in body] + [(child, local) for child in outer]

    def comprehension(self, node, local):
        first = node.generators[0]
        inner = set(local)
        for generator in node.generators:
            inner |= _names_in(generator.target) & self.wanted
        inner = frozenset(inner)
        parts = [node.key, node.value] if node.__class__ is ast.DictComp else [node.elt]
        for generator in node.generators:
            parts += generator.ifs
        parts += (generator.iter for generator in node.generators[1:])
        return [(part, inner) for part in parts] + [(first.iter, local)]


def _names_in(target):
    return {
        node.id for node in _walk(target)
        if node.__class__ is Name and node.ctx.__class__ is Store
    }


def _bound_in(body):
    """The names that a function's own statements bind, those of functions in it left out."""
    found = set()
    stack = list(body)
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind in _DEFINITIONS or kind is ast.ClassDef:
            found.add(node.name)
            continue
        if kind in _FUNCTIONS or kind in _COMPREHENSIONS:
            continue
        if kind is Name:
            if node.ctx.__class__ is Store:
                found.add(node.id)
        elif kind is ast.Nonlocal:
            return set()
        stack += _children(node)
    return found
