"""Checks the guard and the fence in a process with the real libraries: what evaluates
texts evaluates formulas alone, what reads files or modules by name does nothing, and
what ordinary programs do still works, as without the guard."""

import sys
import types
import unittest

package = types.ModuleType("_runtime")
package.__path__ = [sys.argv[1]]
sys.modules["_runtime"] = package

import mpmath
import numpy as np
import sympy as sp
from sympy.parsing.sympy_parser import implicit_multiplication_application, standard_transformations
from _runtime import fence, guard

x, y = sp.symbols("x y")
DUNDER = "_" * 2


class Printer(sp.printing.str.StrPrinter):
    module_imports = {"os": {"getpid"}}


class Text:
    def __str__(self):
        return "print(1)"


HOSTILE = {
    "special name": lambda: sp.sympify("".join([DUNDER, "import", DUNDER, "('os').getpid()"])),
    "mapped": lambda: list(map(sp.sympify, ["p" + "rint('x')"])),
    "S": lambda: sp.S("print(1)"),
    "attribute": lambda: sp.S("().real"),
    "method": lambda: sp.S("x.subs(x, 1)"),
    "class": lambda: sp.S("()." + DUNDER + "class" + DUNDER),
    "lambda": lambda: sp.parse_expr("(lambda: 1)()", transformations=()),
    "loop": lambda: sp.parse_expr("[c for c in (1, 2)]", transformations=()),
    "literal text": lambda: sp.parse_expr("'%s' % ('__x__',)", transformations=()),
    "f-string": lambda: sp.parse_expr("f'{1}'", transformations=()),
    "unevaluated": lambda: sp.parse_expr("print(1)", evaluate=False),
    "file": lambda: sp.parse_expr("open('x')"),
    "subs": lambda: x.subs("x", "print(3)"),
    "solve": lambda: sp.solve("print(1)"),
    "matrix": lambda: sp.Matrix(["print(1)"]),
    "poly": lambda: sp.Poly("print(1)"),
    "N": lambda: sp.N("print(1)"),
    "integrate": lambda: sp.integrate("print(1)", x),
    "lambdify": lambda: sp.lambdify(x, "%s%s" % ("pri", "nt(1)"))(1),
    "lambdify symbol": lambda: sp.lambdify(x, sp.Symbol("print(1)"))(1),
    "lambdify function": lambda: sp.lambdify(x, sp.Function("print")(x))(1),
    "lambdify arguments": lambda: sp.lambdify(["k=abs(1)"], x),
    "lambdify builtins": lambda: sp.lambdify(x, sp.Symbol("builtins.eval('1')"))(1),
    "lambdify printer": lambda: sp.lambdify(x, x, printer=Printer)(1),
    "identify": lambda: mpmath.identify(3.0, ["print(1)"]),
    "load": lambda: np.load("x"),
    "load through another module": lambda: np.polynomial.polynomial.np.load("x"),
    "save": lambda: np.save("x", [1]),
    "loadtxt": lambda: np.loadtxt("x"),
    "fromfile": lambda: np.fromfile("x"),
    "module by name": lambda: sp.lazy_function("os", "listdir")("/"),
    "module by name, deep": lambda: sys.modules["sympy.core.cache"].lazy_function("os", "listdir")("/"),
    "class by name": lambda: sys.modules["sympy.utilities.source"].get_class("os.system"),
}

FORMULAS = (
    "2*x", "sin(x) + cos(y)", "Matrix([[1, 2], [3, 4]])", "Eq(x, 1)", "1.5*x", "f(x)", "Symbol('x', positive=True)",
    "{1, 2}", "[1, 2, x]", "x > 1", "Integral(x, (x, 0, 1))", "5!", "max(1, x)", "oo", "lambda x: x**2", "x & ~y",
    "Sum(n, (n, 1, 5))", "1/3", "Piecewise((x, x > 0), (0, True))", "Function('f')(x)", "1e-3", "Rational(1, 3)",
)

EXPRESSIONS = (
    sp.sin(x) + x**2, sp.Piecewise((x, x > 0), (0, True)), sp.Max(x, 2), sp.Matrix([[x, 1], [2, x]]),
    sp.Sum(y, (y, 1, x)), sp.exp(x) * sp.I, sp.Rational(1, 3) * x, sp.Abs(x), sp.factorial(x), sp.sqrt(x) + sp.pi,
    sp.And(x > 1, x < 2), [x, x + 1], sp.floor(x), sp.sign(x), sp.Heaviside(x), sp.Mod(x, 2), sp.Array([x, 1]), sp.oo,
)


class GuardTest(unittest.TestCase):
    def setUp(self):
        guard.install()

    def tearDown(self):
        guard.open()

    def test_code_is_not_evaluated(self):
        for name, attempt in HOSTILE.items():
            with self.subTest(name), self.assertRaises((ValueError, AttributeError, ImportError, TypeError)) as seen:
                attempt()
            self.assertIn("blocked", str(seen.exception), name)

    def test_formulas_are(self):
        for text in FORMULAS:
            guarded = sp.sympify(text)
            guard.open()
            self.assertEqual(guarded, sp.sympify(text), text)
            guard.install()
        every = standard_transformations + (implicit_multiplication_application,)
        self.assertEqual(sp.parse_expr("2x + sin x", transformations=every), 2 * x + sp.sin(x))
        self.assertEqual(sp.sympify("x + f", locals={"f": y}), x + y)
        self.assertEqual(mpmath.identify(mpmath.pi * 3, ["pi"]), "(3*pi)")

    def test_generated_code_is_what_it_was(self):
        for modules in ("numpy", "math", "mpmath", "sympy", "cmath"):
            for expression in EXPRESSIONS:
                guarded = self.made(modules, expression)
                guard.open()
                self.assertEqual(guarded, self.made(modules, expression), (modules, expression))
                guard.install()
        self.assertEqual(sp.lambdify([(x, y)], x + y)((1, 2)), 3)
        self.assertEqual(sp.lambdify(x, sp.Function("g")(x), [{"g": abs}, "numpy"])(-2), 2)

    def made(self, modules, expression):
        try:
            function = sp.lambdify(x, expression, modules)
        except Exception as error:
            return type(error)
        try:
            return repr(function(3))
        except Exception as error:
            return type(error)

    def test_its_functions_lead_nowhere(self):
        parser = sys.modules["sympy.parsing.sympy_parser"]
        for function in (vars(parser)["eval"], vars(parser)["compile"], np.load, sp.lazy_function):
            self.assertNotIn("sys", function.__globals__)
            self.assertNotIn("__import__", function.__globals__["__builtins__"])

    def test_all_is_taken_back(self):
        load = np.load
        guard.open()
        self.assertIsNot(np.load, load)
        self.assertEqual(sp.S("abs(-1) and open").__name__, "open")
        guard.open()  # a second time changes nothing


class FenceTest(unittest.TestCase):
    def test_what_lists_attributes_is_closed(self):
        closed = fence.names(["import:math"])
        for name in ("vars", "dir", "open", "eval", "help"):
            self.assertNotIn(name, closed)
        self.assertIn("vars", fence.names(["builtin:vars"]))
        self.assertIn("dir", fence.names(["builtin:*"]))

    def test_a_grant_of_all_builtins_opens_the_guard(self):
        guard.install()
        fence.names(["builtin:abs", "import:*"])
        with self.assertRaises(ValueError):
            sp.S("print(1)")
        fence.names(["builtin:*"])
        self.assertEqual(sp.S("abs").__name__, "abs")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
