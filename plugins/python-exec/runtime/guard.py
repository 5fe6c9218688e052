"""Checks inside the interpreter: the second hedge behind the policy, never a boundary.

The policy judges a program's text. What it cannot see are texts that are made while
the program runs and handed to a library that evaluates them, and functions of the
libraries that are reached by a way it does not know. install() is called once, in the
zygote, before any fork: sympy and mpmath then evaluate formulas and nothing else, and
functions that read files, load modules by name or start other programs do nothing.
open() takes it all back, for a verdict that grants every builtin.

The functions that are put into the libraries have globals of their own, in which there
is nothing to find.
"""

import ast
import builtins
import cmath
import math
import sys
import types

# What formulas may use of the builtins.
PLAIN = (
    "abs bool complex dict divmod float frozenset int len list max min pow range reversed round set "
    "slice sorted sum tuple zip"
).split()

# Parts of sympy and mpmath that no formula needs.
UNFIT = frozenset(
    "autowrap binary_function class_key codegen doctest dotprint get_class get_resource identify import_module "
    "init_printing init_session lambdastr lambdify lazy_function memoize_property multipledispatch "
    "pager_print parse_expr plot plotting preview print_gtk public runtests source splot cplot sys test "
    "testing threaded timed ufuncify view xthreaded".split()
)

# Of generated code, the attributes that sympy's printers write.
PRINTED = frozenset(
    "T abs all any array conj conjugate cos cross dot einsum exp floor imag less log matmul max min mpc mpf "
    "multiply prod quad range real reduce reshape select shape sin sqrt sum tan transpose where".split()
) | frozenset(name for module in (math, cmath) for name in vars(module) if name[0] != "_")

FORMULA = (
    "Expression Constant Name Load BinOp UnaryOp BoolOp Compare Call keyword List Tuple Set Dict IfExp "
    "Subscript Slice Starred"
)
CODE = (
    " Module FunctionDef arguments arg Return Assign Store Delete Del Expr Attribute Lambda GeneratorExp "
    "ListComp comprehension"
)

# Inert from here on: by module, the names.
INERT = {
    "numpy": "load save savez savez_compressed savetxt loadtxt genfromtxt fromfile fromregex",
    "sympy": "lazy_function preview view test doctest source init_session autowrap ufuncify get_class",
    "sympy.utilities.source": "get_class source",
    "sympy.core.cache": "lazy_function",
    "mpmath": "runtests doctests plot cplot splot",
    "typing": "get_type_hints",
}

# Roots of modules whose globals may hold one of these.
ROOTS = frozenset({"numpy", "sympy", "mpmath", "plotly", "_plotly_utils", "typing"})

# What generated code may import.
LIBRARIES = frozenset({"math", "cmath", "mpmath", "numpy", "scipy", "sympy"})


def apart(function, **names):
    """The function with globals that hold these names and nothing else."""
    names["__builtins__"] = {
        "isinstance": isinstance, "type": type, "id": id, "dict": dict, "str": str, "ValueError": ValueError,
        "ImportError": ImportError, "any": any, "AttributeError": AttributeError,
    }
    return types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )


def _nodes(names):
    operators = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
    return tuple(getattr(ast, name) for name in names.split()) + operators


def checker(allowed, attributes):
    """A function that refuses a tree with anything but these nodes and attributes in it."""
    children, arguments = ast.iter_child_nodes, ast.arguments
    name_of, attribute_of, constant_of = ast.Name, ast.Attribute, ast.Constant
    refused = (frozenset(vars(builtins)) - frozenset(PLAIN) - {"True", "False", "None"}) | UNFIT

    def check(tree, own):
        stack = [tree]
        while stack:
            node = stack.pop()
            stack.extend(children(node))
            if not isinstance(node, allowed):
                raise ValueError("code in a text is blocked: only formulas are evaluated")
            if isinstance(node, name_of):
                name = node.id
                if name[:2] == "__" or (name in refused and name not in own):
                    raise ValueError("code in a text is blocked: %s" % name)
            elif isinstance(node, attribute_of):
                if node.attr not in attributes:
                    raise ValueError("code in a text is blocked: .%s" % node.attr)
            elif isinstance(node, arguments):
                if node.defaults or node.kw_defaults or any(arg.annotation for arg in node.args):
                    raise ValueError("code in a text is blocked: only plain arguments")
            elif isinstance(node, constant_of) and type(node.value) is str and "__" in node.value:
                raise ValueError("code in a text is blocked: a special name")

    return apart(check)


def evaluator(check):
    """An eval for formulas."""
    real, parse, code = eval, ast.parse, types.CodeType
    plain = {name: getattr(builtins, name) for name in PLAIN}

    def evaluate(text, globals=None, locals=None):
        own = () if locals is None else locals
        if not isinstance(text, code):
            text = str(text).strip()
            check(parse(text, "<string>", "eval"), own)
        names = dict(globals or ())
        names["__builtins__"] = plain
        return real(text, names, locals)

    return apart(evaluate)


def compiler(check):
    """A compile for formulas and for the functions that are generated of them."""
    real, parse, tree_of = compile, ast.parse, ast.AST

    def compile_checked(source, filename, mode, *rest, **more):
        check(source if isinstance(source, tree_of) else parse(source, filename, mode), ())
        return real(source, filename, mode, *rest, **more)

    return apart(compile_checked)


def executor():
    """An exec for what lambdify executes: compiled code, and imports of the libraries."""
    real, parse, code = exec, ast.parse, types.CodeType
    importing = {"__import__": builtins.__import__}
    plain = {name: getattr(builtins, name) for name in PLAIN}
    libraries, one, some = LIBRARIES, ast.Import, ast.ImportFrom

    def execute(source, globals, locals):
        if isinstance(source, code):
            globals["__builtins__"] = plain
            return real(source, globals, locals)
        for node in parse(source).body:
            if source == "from functools import reduce":
                names = ()
            elif isinstance(node, one):
                names = [alias.name for alias in node.names]
            elif isinstance(node, some):
                names = [node.module]
            elif source in fixed:
                names = ()
            else:
                raise ValueError("code in a text is blocked")
            for name in names:
                if name.partition(".")[0] not in libraries:
                    raise ImportError("import of %s is blocked" % name)
        globals["__builtins__"] = importing
        return real(source, globals, locals)

    fixed = frozenset(
        line for entry in vars(sys.modules["sympy.utilities.lambdify"])["MODULES"].values() for line in entry[3]
    )
    return apart(execute)


def refusal(name):
    """What stands in the place of an inert function."""

    def blocked(*args, **keywords):
        raise AttributeError("%s is blocked" % name)

    return apart(blocked)


class _Change:
    """One name in one module, as it was and as it is now."""

    __slots__ = ("names", "key", "old", "new")

    def __init__(self, names, key, new):
        self.names, self.key, self.new = names, key, new
        self.old = names.get(key, _Change)


def _change(changes, names, key, new):
    changes.append(_Change(names, key, new))
    names[key] = new


_changes = []


def install():
    """Put the checks in. The libraries are loaded; nothing of a program has run."""
    import mpmath.identification
    import sympy.parsing.sympy_parser

    formula = checker(_nodes(FORMULA), frozenset())
    generated = checker(_nodes(FORMULA + CODE), PRINTED)
    parser = vars(sys.modules["sympy.parsing.sympy_parser"])
    lambdify = vars(sys.modules["sympy.utilities.lambdify"])
    _change(_changes, parser, "eval", evaluator(formula))
    _change(_changes, parser, "compile", compiler(formula))
    _change(_changes, lambdify, "compile", compiler(generated))
    _change(_changes, lambdify, "exec", executor())
    _change(_changes, vars(sys.modules["mpmath.identification"]), "eval", evaluator(formula))
    _silence(_changes)


def _silence(changes):
    targets = {}
    for module, names in INERT.items():
        for name in names.split():
            thing = getattr(sys.modules[module], name, None)
            if callable(thing):
                targets[id(thing)] = (thing, refusal(name))
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ROOTS and isinstance(module, types.ModuleType):
            names = vars(module)
            for key, value in list(names.items()):
                if id(value) in targets:
                    _change(changes, names, key, targets[id(value)][1])


def open():
    """Take everything back: for a verdict that grants all builtins."""
    while _changes:
        change = _changes.pop()
        if change.old is _Change:
            del change.names[change.key]
        else:
            change.names[change.key] = change.old
