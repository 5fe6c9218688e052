"""What the policy's rules rely on in the sections of runtime/index.py."""

import unittest

from index_support import document, index, programs, sections


class MeaningTest(unittest.TestCase):
    """What rules rely on."""

    def test_sections_on_request(self):
        found = document("import os", ["imports"])
        self.assertEqual(set(found["ast"]), {"imports", "truncated"})
        self.assertEqual(set(document("import os")["ast"]), set(index.SECTIONS))
        self.assertEqual(document("x", [])["ast"], {"truncated": {}})

    def test_paths_follow_renaming_assignment_and_loops(self):
        found = sections(
            "import numpy as np, a.b\nfrom c import d as e\nx = np\ny = x.lib\ny.os\n(z := e).f\nfor w in (np, 1): w.g\n"
            "def h(k=np): k.l\nm, n = 1, np\nn.o\na.b.p\n[q.r for q in [e]]\n"
        )["paths"]
        for path in ("numpy.lib.os", "c.d.f", "numpy.g", "numpy.l", "numpy.o", "a.b", "a.b.p", "c.d.r", "c.d", "numpy"):
            self.assertIn(path, found)

    def test_values(self):
        found = sections("import numpy as np\nf(np)\nnp.sin(1)\ng = np.cos\nh = [np.pi]")["values"]
        self.assertEqual(found, {"numpy": ["2:2:2:4"], "numpy.cos": ["4:4:4:10"], "numpy.pi": ["5:5:5:10"]})

    def test_stores(self):
        found = sections("import m\nm.a = 3\nm.b = -3.5\nm.c: int = 'x'\nm.d += 1\nm.e, x = 1, 2\ndel m.f\nfor m.g in y: pass\nm.h = None\nm.i = f")["stores"]
        self.assertEqual(
            {path: entries[0]["value"] for path, entries in found.items()},
            {"m.a": "number", "m.b": "number", "m.c": "text", "m.d": "number", "m.e": "other", "m.f": "other",
             "m.g": "other", "m.h": "none", "m.i": "other"},
        )

    def test_a_name_bound_to_other_things_stores_nowhere(self):
        self.assertEqual(sections("import m\nx = m.root\nx = Node()\nx.next = f")["stores"], {})
        self.assertIn("m.next", sections("import m\nx = m\nx.next = f")["stores"])

    def test_bound(self):
        found = sections("import a\ndef b(c): pass\nclass d: pass\ntry: pass\nexcept e as f: pass\nmatch g:\n case h: pass\nfor i in j: k += 1")["bound"]
        self.assertEqual(
            found,
            {"a": ["import"], "b": ["def"], "c": ["argument"], "d": ["class"], "f": ["except"], "h": ["match"], "i": ["assign"], "k": ["assign"]},
        )

    def test_members_and_private_names(self):
        found = sections(
            "class A(B):\n __slots__ = ('_s',)\n __rmul__ = _m = run\n def __init__(self):\n  super().__init__(1)\n  self._x = self.__class__.__name__\n"
            "match y:\n case A(_p=1): pass\nf(_k=2)\nfrom r import _i\nimport t\nt._u\n'{0._v}'.format(1)\n"
        )
        self.assertLessEqual({"__slots__", "_s", "__rmul__", "_m", "__init__", "_x"}, set(found["members"]))
        private = {name: [(e["as"], e.get("on"), e.get("next"), e.get("value")) for e in entries] for name, entries in found["private"].items()}
        self.assertIn(("field", None, None, "run"), private["__rmul__"])
        self.assertIn(("attribute", "super()", None, None), private["__init__"])
        self.assertIn(("def", None, None, None), private["__init__"])
        self.assertEqual(private["__class__"], [("attribute", "self", "__name__", None)])
        self.assertEqual(private["_x"], [("store", "self", None, None)])
        self.assertEqual(private["_p"], [("pattern", None, None, None)])
        self.assertEqual(private["_k"], [("keyword", None, None, None)])
        self.assertIn(("import", None, None, None), private["_i"])
        self.assertEqual(private["_u"], [("attribute", "t", None, None)])
        self.assertEqual(private["_v"], [("format", None, None, None)])

    def test_texts(self):
        found = sections(
            "import sympy as sp\nsp.S('a')\ns = 'b'\nsp.S(s)\nsp.S(f'c{x}', k=['d', ('e', 1)], *['f'])\nsp.S('g' + 'h')\ny.subs(x, 'i')\ny.z(1)\n"
            "sp.S(g('no'))\nfor t in ['j']: sp.S(t)\n"
        )["calls"]
        self.assertEqual([e.get("texts") for e in found["sympy.S"]], [["a"], ["b"], ["c", "f", "d", "e"], ["g", "h"], ["j"]])
        self.assertEqual(found[".subs"][0]["text"], [1])
        self.assertNotIn(".z", found)

    def test_words(self):
        text = 'x = "open(1) a.read b . c __class__ __x 1.5 f(x) sin (y)"\nprint("exec(1)", f"{x} eval(2)", "a" + "dir(3)")\nprint("vars(4)", file=z)\n'
        self.assertEqual(set(sections(text)["words"]), {"open", ".read", "__class__", "__x", "f", "vars"})
        self.assertIn("exec", sections(text + "print = 3\n")["words"])
        self.assertIn("open", sections("x = 'ｏｐｅｎ(1)'")["words"])
        self.assertEqual(sections("def f():\n 'open(1)'\n'exec(2)'\n")["words"], {})
        self.assertEqual(set(sections("def f():\n 'open(1)'\nf.__doc__")["words"]), {"open"})

    def test_formats(self):
        self.assertEqual(sections("'{0.a.b[c].d}'.format(1)")["formats"], {})
        self.assertLessEqual({"a", "b", "d"}, set(sections("'{0.a.b[c].d}'.format(1)")["attributes"]))
        self.assertIn("e", sections("'{0:{1.e}}'.format(1, 2)")["attributes"])
        self.assertIn("g", sections("t = '{0.g}'\nt.format(1)")["attributes"])
        self.assertEqual(sections("t = '{0.g}'\nt.format(1)")["formats"], {})
        for text, kind in {
            "t.format(1)": "dynamic", "t = 'a' + b\nt.format(1)": "dynamic", "t = 'a'\nt = b\nt.format(1)": "dynamic",
            "def f(t='a'): t = b; t.format(1)": "dynamic", "f = t.format": "value", "str.format('a')": "unbound",
        }.items():
            self.assertEqual(list(sections(text)["formats"]), [kind], text)

    def test_classes_and_decorators(self):
        found = sections("import abc as x\n@x.deco\n@run(1)\n@(lambda f: f)\n@tools[0]\nclass A(x.B, f(), metaclass=x.M, k=1, **o): pass")
        entry = found["classes"]["A"][0]
        self.assertEqual((entry["bases"], entry["keywords"], entry["metaclass"]), (["abc.B", "f()"], ["metaclass", "k", "**"], "abc.M"))
        self.assertEqual({name: len(places) for name, places in found["decorators"].items()}, {"abc.deco": 1, "run": 1, "": 2})

    def test_numbers_nesting_and_source(self):
        found = sections("n = 0x" + "f" * 100 + "\nm = 0x" + "f" * 10)
        self.assertEqual(list(found["integers"]), ["400"])
        tower = "try: pass\nfinally:\n try: pass\n finally:\n  if x:\n   try: pass\n   finally: pass\n"
        self.assertEqual(sections(tower)["nesting"], {"finally": 3})
        self.assertEqual(sections("try:\n try: pass\n finally: pass\nfinally: pass\n")["nesting"], {"finally": 1})
        self.assertEqual(sections("# -*- coding: UTF_7 -*-\n")["source"], {"coding:utf-7": ["1:0:1:23"]})
        self.assertEqual(sections("x = 1\n# é \u202e\n")["source"], {"bidi": ["2:4:2:5"]})
        self.assertEqual(sections("'coding: x'\n\n# coding: utf-7")["source"], {})

    def test_found_tells_what_there_is(self):
        for _, text, _ in programs():
            found = sections(text)
            flags = {name for name in index.RARE if found[name]}
            if any(e.get("name") == "*" for entries in found["imports"].values() for e in entries):
                flags.add("star")
            self.assertEqual(set(found["found"]), flags)

    def test_names_from_earlier_cells(self):
        first = sections("import numpy as np\nfrom sympy import *\nload = np.load", "aliases")["aliases"]
        self.assertEqual(first, {"np": ["numpy"], "load": ["numpy.load"], "*": ["sympy"]})
        text = "np.save('x')\nload('y')\nnp.sin = f\nsympify('z')\nnp"
        found = document(text, None, known=first)["ast"]
        self.assertLessEqual({"numpy.save", "numpy.load"}, set(found["paths"]))
        self.assertIn("numpy.sin", found["stores"])
        self.assertIn("sympify", found["calls"])
        self.assertEqual(found["values"], {"numpy": ["5:0:5:2"]})
        self.assertTrue(found["found"]["star"])

    def test_star_imports(self):
        found = sections("from sympy import *\nsympify('x')\nprint('y')\nf('z')\ndef f(t): pass")
        self.assertEqual(found["imports"]["sympy"][0]["name"], "*")
        self.assertEqual(list(found["calls"]), ["sympify"])
        self.assertIn("*", found["attributes"])
