"""Tests of runtime/index.py: python -I index_check.py RUNTIME_DIR PROGRAM_DIR…

The oracle is written the slow and plain way, on ast.walk and str, and shares no
code with the index. What rules rely on stands in index_meaning.py.
"""

import ast
import builtins
import collections
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from index_meaning import MeaningTest
from index_support import RUNTIME, document, index, parse, programs, sections

UNSEEN = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)

# Fields of type identifier, by class. A newer CPython that adds one must be looked at.
IDENTIFIERS = {
    "FunctionDef": {"name"}, "AsyncFunctionDef": {"name"}, "ClassDef": {"name"}, "ImportFrom": {"module"},
    "Global": {"names"}, "Nonlocal": {"names"}, "Attribute": {"attr"}, "Name": {"id"}, "ExceptHandler": {"name"},
    "arg": {"arg"}, "keyword": {"arg"}, "alias": {"name", "asname"}, "MatchMapping": {"rest"},
    "MatchClass": {"kwd_attrs"}, "MatchStar": {"name"}, "MatchAs": {"name"}, "TypeVar": {"name"},
    "ParamSpec": {"name"}, "TypeVarTuple": {"name"},
}

# One program for each of them; the names that begin with q_ are to be found.
EVERYWHERE = """
import q_a.q_b as q_c, q_d
from q_e.q_f import q_g as q_h, q_i
from . import q_j
def q_k(q_l, /, q_m: q_n = 1, *q_o, q_p=2, **q_q) -> q_r:
    global q_s
    def q_t():
        nonlocal q_m
    return q_u.q_v(q_w=q_x)
async def q_y(): pass
class q_z(q_A, q_B=q_C): q_D = 1
try: pass
except q_E as q_F: pass
match q_G:
    case {"a": q_H, **q_I}: pass
    case q_J(q_K=q_L): pass
    case [q_M, *q_N]: pass
    case q_O as q_P: pass
lambda q_Q: q_R
[q_S for q_T in q_U if q_V]
(q_W := 1)
with q_X as q_Y: pass
for q_Z in q_1: del q_2
x: q_3 = q_4
q_5.q_6 = q_7[q_8:q_9] = f"{q_aa:{q_ab}}"
"""
NEWER = """
type q_ac[q_ad: q_ae, *q_af, **q_ag] = q_ah
def q_ai[q_aj](): pass
class q_ak[q_al]: pass
"""


class Oracle:
    """What the index must say of a tree, as far as it can be said plainly."""

    def __init__(self, text, tree):
        self.lines = re.split("\r\n|\r|\n", text)
        self.tables = collections.defaultdict(lambda: collections.defaultdict(list))
        self.count = self.deepest = 0
        stack = [(tree, 1)]
        while stack:
            node, depth = stack.pop()
            self.count += 1
            self.deepest = max(self.deepest, depth)
            self.node(node)
            stack += [(child, depth + 1) for child in ast.iter_child_nodes(node) if not isinstance(child, UNSEEN)]

    def place(self, node):
        def column(line, offset):
            text = self.lines[line - 1]
            for characters in range(len(text) + 1):
                if len(text[:characters].encode()) == offset:
                    return characters
            raise AssertionError(f"offset {offset} in {text!r}")

        start, end = node.lineno, node.end_lineno
        return f"{start}:{column(start, node.col_offset)}:{end}:{column(end, node.end_col_offset)}"

    def put(self, table, key, node):
        if key is not None:
            self.tables[table][key].append(self.place(node))

    def node(self, node):
        name = type(node).__name__
        if isinstance(node, ast.stmt):
            self.put("kinds", name, node)
        if name in ("Lambda", "Await", "Yield", "YieldFrom", "NamedExpr", "ListComp", "SetComp", "DictComp", "GeneratorExp"):
            self.put("kinds", name, node)
        if isinstance(node, ast.Name):
            self.put("names", node.id, node)
        elif isinstance(node, ast.Attribute):
            self.put("attributes", node.attr, node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                self.alias(alias, alias.name, None)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                self.alias(alias, node.module or "", alias.name)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            for item in node.names:
                self.put("identifiers", item, node)
        elif isinstance(node, ast.MatchClass):
            for item in node.kwd_attrs:
                self.put("attributes", item, node)
        elif name in IDENTIFIERS and name != "alias":
            for field in IDENTIFIERS[name] - {"asname"}:
                self.put("identifiers", getattr(node, field), node)

    def alias(self, alias, module, name):
        for part in module.split(".")[1:]:
            self.put("attributes", part, alias)
        if name is not None:
            self.put("attributes", name, alias)
        self.put("identifiers", alias.asname, alias)


def key_of(place):
    return [int(part) for part in place.split(":")]


class OracleTest(unittest.TestCase):
    def test_every_program_has_the_index_of_a_plain_walk(self):
        seen = 0
        for name, text, tree in programs():
            with self.subTest(name):
                seen += 1
                self.compare(text, tree)
        self.assertGreater(seen, 100)

    def test_every_identifier_field(self):
        text = EVERYWHERE + (NEWER if sys.version_info >= (3, 12) else "")
        self.compare(text, parse(text))
        found = sections(text)
        known = set(found["names"]) | set(found["attributes"]) | set(found["identifiers"])
        roots = {entry["module"].partition(".")[0] for entries in found["imports"].values() for entry in entries}
        wanted = set(re.findall(r"\bq_\w+", text))
        self.assertEqual(wanted - known - roots, set())

    def test_lines_that_are_not_ascii(self):
        text = "π = 'é'; Δx = π\r\nif π: 𝕒𝕟𝕤 = Δx . upper ( )\r\nprint('日本', π, sep='→')\n"
        self.compare(text, parse(text))
        found = sections(text)
        self.assertEqual(found["names"]["π"], ["1:0:1:1", "1:14:1:15", "2:3:2:4", "3:12:3:13"])
        self.assertEqual(found["names"]["ans"], ["2:6:2:9"])
        self.assertEqual(found["identifiers"]["sep"], ["3:15:3:22"])

    def compare(self, text, tree):
        oracle = Oracle(text, tree)
        found = document(text, [name for name in index.SECTIONS if name != "tree"])
        self.assertEqual((found["code"]["nodes"], found["code"]["depth"]), (oracle.count, oracle.deepest))
        fields = {name for name in found["ast"]["attributes"]} - set(oracle.tables["attributes"]) - {"*"}
        for name in fields:
            # a field of a template, what __match_args__ lists, or a data class's field
            self.assertRegex(text, r"(?m)(\{.*\.|__match_args__.*['\"]|^ +)" + re.escape(name), name)
        for table in ("names", "attributes", "identifiers", "kinds"):
            for key, places in oracle.tables[table].items():
                got = found["ast"][table].get(key, [])
                cut = found["ast"]["truncated"].get(table, {}).get(key, 0)
                if table == "attributes" and key not in fields and len(got) + cut > len(places):
                    continue  # also a field of a template
                self.assertEqual(len(got) + cut, len(places), (table, key))
                if not cut:
                    self.assertEqual(sorted(got, key=key_of), sorted(places, key=key_of), (table, key))
                else:
                    self.assertLessEqual(set(got), set(places), (table, key))
            self.assertLessEqual(set(found["ast"][table]) - fields - {"*"}, set(oracle.tables[table]) | {"AsyncComprehension"}, table)


class GrammarTest(unittest.TestCase):
    def classes(self):
        for name, cls in vars(ast).items():
            if isinstance(cls, type) and issubclass(cls, ast.AST) and cls.__module__ == "ast" and not name.startswith("_"):
                yield name, cls

    def test_identifier_fields_are_the_known_ones(self):
        for name, cls in self.classes():
            grammar = cls.__doc__ or ""
            if not grammar.startswith(name + "("):
                continue
            fields = set(re.findall(r"\bidentifier[?*]? (\w+)", grammar))
            self.assertEqual(fields, IDENTIFIERS.get(name, set()), grammar)

    def test_every_kind_of_node_has_a_visitor(self):
        old = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice", "Suite", "AugLoad", "AugStore", "Param"}
        whole = {"FunctionType", "TypeIgnore"}
        for name, cls in self.classes():
            if name in old | whole or issubclass(cls, UNSEEN) or cls in (ast.AST, ast.slice):
                continue
            abstract = any(other is not cls and cls in other.__bases__ for _, other in self.classes() if other.__name__ not in old)
            if not abstract:
                self.assertIn(cls, index._HANDLERS, name)

    def test_a_kind_that_is_not_known_is_told_and_walked(self):
        class Defer(ast.stmt):
            _fields = ("body", "note")

        inner = parse("import os\nx.y").body
        for node in inner:
            ast.fix_missing_locations(node)
        new = Defer(body=inner, note=None, lineno=1, col_offset=0, end_lineno=2, end_col_offset=3)
        raw, nodes, _ = index.dump(ast.Module(body=[new], type_ignores=[]), "import os\nx.y", ["kinds", "imports", "attributes"])
        found = json.loads(raw)["ast"]
        self.assertIn("Defer", found["kinds"])
        self.assertIn("os", found["imports"])
        self.assertIn("y", found["attributes"])
        self.assertEqual(nodes, 7)


class HostileTest(unittest.TestCase):
    DEEP = 20_000

    def deep(self, wrap):
        node = ast.Name("x", ast.Load(), lineno=1, col_offset=0, end_lineno=1, end_col_offset=1)
        for _ in range(self.DEEP):
            node = wrap(node)
            node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = 1, 0, 1, 1
        statement = ast.Expr(node, lineno=1, col_offset=0, end_lineno=1, end_col_offset=1)
        return ast.Module([statement], [])

    def test_deep_trees_do_not_recurse(self):
        limit = sys.getrecursionlimit()
        one = ast.Constant(1, lineno=1, col_offset=0, end_lineno=1, end_col_offset=1)
        shapes = {
            "unary": lambda n: ast.UnaryOp(ast.USub(), n),
            "sum": lambda n: ast.BinOp(n, ast.Add(), one),
            "attributes": lambda n: ast.Attribute(n, "a", ast.Load()),
            "calls": lambda n: ast.Call(n, [], []),
            "methods": lambda n: ast.Call(ast.Attribute(n, "a", ast.Load(), lineno=1, col_offset=0, end_lineno=1, end_col_offset=1), [], []),
            "lists": lambda n: ast.List([n], ast.Load()),
            "conditions": lambda n: ast.IfExp(n, n, one) if False else ast.IfExp(one, one, n),
        }
        sys.setrecursionlimit(300)
        try:
            for name, wrap in shapes.items():
                tree = self.deep(wrap)
                raw, nodes, depth = index.dump(tree, "x")
                self.assertGreater(nodes, self.DEEP, name)
                self.assertGreater(depth, self.DEEP, name)
                self.assertTrue(raw.endswith(b"}}}"), name)
                self.flatten(tree)
        finally:
            sys.setrecursionlimit(limit)

    def flatten(self, tree):
        """Take a deep tree apart, so that freeing it does not recurse either."""
        node = tree.body.pop().value
        while node is not None:
            inner = None
            for field in ("operand", "left", "value", "func", "orelse"):
                if isinstance(getattr(node, field, None), ast.AST):
                    inner = getattr(node, field)
                    delattr(node, field)
                    break
            else:
                if isinstance(node, ast.List):
                    inner = node.elts.pop()
            node = inner

    def test_constants_that_json_cannot_carry(self):
        text = "a = 1e999, -1e999, 1e999j, '\\ud800', b'\\xff', 0x" + "f" * 30_000 + ", ..., 2.5, None, True, 'é'"
        tree = document(text, ["tree"])["ast"]["tree"]
        values = [item.get("value") for item in tree["body"][0]["value"]["elts"]]
        self.assertEqual(values[0], {"_const": "float", "value": "inf"})
        self.assertEqual(values[2], {"_const": "complex", "value": "infj"})
        self.assertEqual(values[3], {"_const": "str", "value": "'\\ud800'"})
        self.assertEqual(values[4], {"_const": "bytes", "value": "ff"})
        self.assertEqual(values[5], {"_const": "int", "value": "0x" + "f" * 30_000})
        self.assertEqual(values[6:], [{"_const": "Ellipsis"}, 2.5, None, True, "é"])

    def test_surrogates_reach_no_section(self):
        text = "f('\\ud800__class__(', **{'\\udfff__x__': 1})\n'{0.\\ud800}'.format(1)\nimport sympy\nsympy.S('\\ud800')"
        found = document(text, [name for name in index.SECTIONS if name != "tree"])
        self.assertNotIn("\\ud", json.dumps(found, ensure_ascii=True).replace("\\ufffd", ""))
        self.assertIn("__class__", found["ast"]["words"])

    def test_the_same_text_gives_the_same_bytes(self):
        script = (
            "import sys, ast, types; package = sys.modules['_runtime'] = types.ModuleType('_runtime')\n"
            "package.__path__ = [sys.argv[1]]; from _runtime import index\n"
            "text = sys.stdin.read(); sys.stdout.buffer.write(index.dump(ast.parse(text), text)[0])"
        )
        text = "".join(t for _, t, _ in list(programs())[:20] if "from __future__" not in t and t.isascii())
        got = {
            subprocess.run(
                [sys.executable, "-c", script, RUNTIME], input=text.encode(), stdout=subprocess.PIPE, check=True,
                env={"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
            ).stdout
            for seed in ("0", "1", "77")
        }
        self.assertEqual(len(got), 1)

    def test_nothing_is_imported_when_a_program_is_dumped(self):
        trees = [(text, tree) for _, text, tree in programs()]
        real = builtins.__import__

        def refuse(name, *rest):
            raise AssertionError("import of " + name)

        builtins.__import__ = refuse
        try:
            for text, tree in trees:
                index.dump(tree, text)
        finally:
            builtins.__import__ = real

    def test_bounds(self):
        text = "x = 1\n" * 100
        with self.assertRaises(index.TooLarge):
            index.dump(parse(text), text, max_nodes=99)
        with self.assertRaises(index.TooLarge):
            index.dump(parse(text), text, max_bytes=1000)
        with self.assertRaises(index.TooLarge):
            index.dump(parse("x" * 2000), "x" * 2000, ["names"], max_bytes=1000)

    def test_what_is_left_out_is_counted(self):
        found = sections("eval\n" * 5000 + "f(k=1)\n" * 30 + "import a\n" * 20)
        self.assertEqual(len(found["names"]["eval"]), 16)
        self.assertEqual(found["truncated"]["names"]["eval"], 4984)
        self.assertEqual(found["truncated"]["identifiers"], {"k": 14})
        self.assertEqual(len(found["imports"]["a"]), 16)
        self.assertEqual(found["truncated"]["imports"], {"a": 4})

    def test_a_from_import_stands_where_its_module_does(self):
        for text, at in (
            ("from scipy.optimize import brentq", "1:5:1:19"), ("x = 1; from  a import (b,\n  c)", "1:13:1:14"),
            ("if 1:\n  from . import a", "2:7:2:8"), ("é = 1; from ..b import c", "1:12:1:15"),
            ("from a . b import c", "1:0:1:19"), ("from \\\n a import c", "1:0:2:11"),
        ):
            entries = next(iter(sections(text)["imports"].values()))
            self.assertEqual({e["at"] for e in entries}, {at}, text)

    def test_no_number_of_harmless_entries_hides_another(self):
        found = sections(
            "import s\n" + "s.f('a')\n" * 40 + "s.f('b')\n" + "import s.t\n" + "s.n = 1\n" * 40 + "s.n = f\n" + "x._p = 1\n" * 40 + "y._p\n"
        )
        self.assertEqual([e["texts"] for e in found["calls"]["s.f"]], [["a"]] * 16 + [["b"]])
        self.assertEqual({e["module"] for e in found["imports"]["s"]}, {"s", "s.t"})
        self.assertEqual([e["value"] for e in found["stores"]["s.n"]], ["number"] * 16 + ["other"])
        self.assertEqual([e["as"] for e in found["private"]["_p"]], ["store"] * 16 + ["attribute"])
        self.assertEqual(found["truncated"]["calls"], {"s.f": 24})

    def test_calls_that_make_classes(self):
        for text, count in (
            ("type('a', (), {})", 1), ("type(*x)", 1), ("t = type\nt('a', (), {})", 2), ("type(x, **y)", 1),
            ("[type][0]", 1), ("map(type, x, y, z)", 1), ("def f(t=type): pass", 1), ("if x:\n type = 1\ntype", 1),
        ):
            self.assertEqual(len(sections(text)["calls"]["type"]), count, text)
        for text in ("isinstance(x, (type, int))", "type(x) is type", "type = 1\nprint(type)", "def f(type): type", "def f(t: type) -> type: pass"):
            self.assertEqual(sections(text)["calls"], {}, text)
        self.assertEqual(sections("type(x)\nlist(map(type, y))")["calls"], {})

    def test_long_texts(self):
        found = sections("import sympy\nx = '__a" + "b" * 500 + "'\nsympy.S('" + "y" * 3000 + "')\nsympy.S(" + ",".join("'a'" for _ in range(40)) + ")")
        self.assertEqual([len(key) for key in found["strings"]], [200])
        first, second = found["calls"]["sympy.S"]
        self.assertEqual((len(first["texts"][0]), first["cut"]), (2000, True))
        self.assertEqual((len(second["texts"]), second["cut"]), (16, True))

    def test_small_programs_do_not_make_large_documents(self):
        names = ["q" + a + b for a in "abcdefghijklmnopqrstuvwxyz" for b in "abcdefghijklmnopqrstuvwxyz0123456789_"]
        text = "import m\nt = [" + ",".join("'" + letter * 1900 + "'" for letter in "abcdefghijklmno") + "]\n"
        text += "".join(f"m.{name}(t)\n" for name in names)
        found = document(text, ["calls"])["ast"]["calls"]
        self.assertLess(len(json.dumps(found)), 400_000)
        self.assertTrue(found["m." + names[-1]][0]["cut"])
        long = "x" * 5000
        text = "import m\n" + "".join(f"n = m.{long}{k}\n" for k in range(8)) + "".join(f"n.{name}\n" for name in names[:9])
        self.assertLess(len(index.dump(parse(text), text, ["paths"])[0]), 200_000)
        long = "x" * 90
        text = "import m\n" + "".join(f"n = m.{long}{k}\n" for k in range(8)) + "".join(f"n.{a}.{b}.{c}.{d}\n" for a in names[:20] for b in names[:20] for c in names[:4] for d in "ab")
        with self.assertRaises(index.TooLarge):
            index.dump(parse(text), text, ["paths"])

    def test_a_name_bound_to_many_things(self):
        text = "import numpy\n" + "".join(f"x = numpy.a{n}\n" for n in range(50)) + "x.load\n" + "y = x\n" * 5
        paths = sections(text)["paths"]
        self.assertEqual(sum(path.endswith(".load") for path in paths), 50)
        with self.assertRaises(index.TooLarge):
            sections("import numpy\n" + "".join(f"x = numpy.a{n}\n" for n in range(65)) + "x.load\n")
        with self.assertRaises(index.TooLarge):
            sections("".join(f"import a{n} as x\n" for n in range(65)))
        reverse = "import numpy\n" + "".join(f"x{n} = x{n + 1}\n" for n in range(12)) + "x12 = numpy\n"
        self.assertIn("numpy.load", sections(reverse + "x0.load")["paths"])
        with self.assertRaises(index.TooLarge):
            sections("import numpy\n" + "".join(f"x{n} = x{n + 1}\n" for n in range(40)) + "x40 = numpy\nx0.load")

    def test_names_that_are_surely_the_programs_own(self):
        for text in (
            "vars = 1\nvars", "def f(vars): return vars", "lambda vars: vars", "[vars for vars in x]",
            "for vars, y in x:\n vars", "def f():\n vars = 1\n return lambda: vars", "def vars(): pass\nvars()",
            "from numpy import *\nload = 1\nload", "import a as dir\ndir",
        ):
            bound = sections(text)["bound"]
            self.assertTrue(any("firm" in how for how in bound.values()), text)
        for text in (
            "if x:\n vars = 1\nvars", "lambda vars: 0\nvars", "def f(vars=vars): pass", "[vars for vars in vars]",
            "vars\nvars = 1", "vars = 1\ndel vars\nvars", "def f():\n global vars\n vars = 1\nvars",
            "vars = 1\ntry: pass\nexcept E as vars: pass\nvars", "load = 1\nfrom numpy import *\nload",
            "load = 1\nif x:\n from numpy import *\nload", "class A:\n vars = 1\nvars",
            "for vars in x: pass\nvars", "while x:\n vars = 1\nvars", "def f():\n class A: vars = 1\n vars",
        ):
            bound = sections(text)["bound"]
            self.assertFalse(any("firm" in how for how in bound.values()), text)

    def test_methods_as_values(self):
        for text in ("r = a.resize", "f(a.resize)", "a.resize.b"):
            self.assertEqual(sections(text)["calls"][".resize"][0]["keywords"], ["**"], text)
        self.assertEqual(sections("a.resize(b)")["calls"], {})

    def test_what_patterns_read(self):
        found = sections("class A:\n __match_args__ = ('gi_frame', '_os')\n")
        self.assertEqual({e.get("value") for e in found["private"]["__match_args__"]}, {"names"})
        self.assertLessEqual({"gi_frame", "_os"}, set(found["attributes"]))
        for text in ("class A:\n __match_args__ = (a,)", "class A:\n __match_args__ = b", "class A:\n for __match_args__ in b: pass"):
            found = sections(text)["private"]["__match_args__"]
            self.assertTrue(any(e.get("value") != "names" for e in found), text)
        self.assertIn("sys", sections("class A:\n sys: int\nmatch b:\n case A(c): pass")["attributes"])

    def test_names_in_a_circle(self):
        with self.assertRaises(index.TooLarge):
            sections("import numpy\na = numpy\nb = a.x\na = b.y\nb = a\na = a.z\na.load")
        found = sections("import numpy\na = numpy\nb = a.x\na = b\nb = a\na = a.z\na.load")
        self.assertIn("numpy.load", found["paths"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
