# METADATA
# title: What Python programs may use
# description: |
#   The lists stand first: an operator edits them here, or takes entries out and adds some for
#   one profile in profiles.yaml. Each is a set of literals, read by the rules below and by
#   vendor-sync. The rules look names up in the index of the syntax tree (schemas/pyast-1.json)
#   and never walk the tree. A policy is a filter: the executor's walls are the boundary.
# custom:
#   upstream:
#     math_for_AI_assistant: ebab6dc4702c8ae8fce9d069faac259a9f77723f
#     tiny_gdn: 181d6e0fa42766a998e60905a621b3ce7f2698040060c6682d75b1ede04b1017
package rules.python

# ---------------------------------------------------------------------------
# Lists
# ---------------------------------------------------------------------------

# Modules that may be imported, each by its exact name.
allowed_imports := {
	"__future__", "abc", "array", "bisect", "calendar", "cmath", "collections", "collections.abc", "copy",
	"dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "heapq", "itertools", "json",
	"math", "mpmath", "numbers", "numpy", "numpy.exceptions", "numpy.fft", "numpy.linalg", "numpy.ma",
	"numpy.polynomial", "numpy.polynomial.chebyshev", "numpy.polynomial.hermite",
	"numpy.polynomial.laguerre", "numpy.polynomial.legendre", "numpy.polynomial.polynomial", "numpy.random",
	"numpy.typing", "operator", "plotly", "plotly.colors", "plotly.express", "plotly.figure_factory",
	"plotly.graph_objects", "plotly.graph_objs", "plotly.subplots", "pprint", "random", "re", "statistics",
	"string", "sympy", "sympy.abc", "sympy.calculus", "sympy.calculus.singularities", "sympy.calculus.util",
	"sympy.combinatorics", "sympy.combinatorics.named_groups", "sympy.combinatorics.perm_groups",
	"sympy.combinatorics.permutations", "sympy.concrete", "sympy.concrete.products",
	"sympy.concrete.summations", "sympy.core", "sympy.discrete", "sympy.functions",
	"sympy.functions.combinatorial", "sympy.functions.combinatorial.factorials",
	"sympy.functions.combinatorial.numbers", "sympy.functions.elementary",
	"sympy.functions.elementary.complexes", "sympy.functions.elementary.exponential",
	"sympy.functions.elementary.hyperbolic", "sympy.functions.elementary.integers",
	"sympy.functions.elementary.miscellaneous", "sympy.functions.elementary.piecewise",
	"sympy.functions.elementary.trigonometric", "sympy.functions.special", "sympy.functions.special.bessel",
	"sympy.functions.special.delta_functions", "sympy.functions.special.error_functions",
	"sympy.functions.special.gamma_functions", "sympy.functions.special.polynomials", "sympy.geometry",
	"sympy.geometry.ellipse", "sympy.geometry.line", "sympy.geometry.point", "sympy.geometry.polygon",
	"sympy.integrals", "sympy.integrals.integrals", "sympy.integrals.transforms", "sympy.logic",
	"sympy.logic.boolalg", "sympy.logic.inference", "sympy.matrices", "sympy.matrices.dense",
	"sympy.matrices.expressions", "sympy.ntheory", "sympy.ntheory.factor_", "sympy.ntheory.generate",
	"sympy.ntheory.modular", "sympy.ntheory.primetest", "sympy.ntheory.residue_ntheory", "sympy.physics",
	"sympy.physics.mechanics", "sympy.physics.units", "sympy.physics.vector", "sympy.polys",
	"sympy.polys.domains", "sympy.polys.polytools", "sympy.series", "sympy.series.limits",
	"sympy.series.order", "sympy.sets", "sympy.sets.fancysets", "sympy.sets.sets", "sympy.simplify",
	"sympy.simplify.radsimp", "sympy.simplify.simplify", "sympy.solvers", "sympy.solvers.diophantine",
	"sympy.solvers.inequalities", "sympy.solvers.ode", "sympy.solvers.pde", "sympy.solvers.polysys",
	"sympy.solvers.recurr", "sympy.solvers.solvers", "sympy.solvers.solveset", "sympy.stats",
	"sympy.stats.crv_types", "sympy.stats.drv_types", "sympy.stats.frv_types", "sympy.tensor",
	"sympy.tensor.array", "sympy.tensor.indexed", "sympy.tensor.tensor", "sympy.vector", "textwrap",
	"typing", "unicodedata",
}

# Modules of which only the names in partial_names may be used, never the module as a value.
partial_modules := {
	"numpy.lib.stride_tricks", "numpy.testing", "sympy.assumptions", "sympy.core.add", "sympy.core.basic",
	"sympy.core.expr", "sympy.core.function", "sympy.core.mul", "sympy.core.numbers", "sympy.core.power",
	"sympy.core.relational", "sympy.core.singleton", "sympy.core.symbol", "sympy.core.sympify",
	"sympy.parsing.sympy_parser", "sympy.printing", "sympy.printing.latex", "sympy.printing.pretty",
	"sympy.utilities", "sympy.utilities.iterables", "sympy.utilities.lambdify", "sys", "time",
}

# What may be used of the partial modules.
partial_names := {
	"numpy.lib.stride_tricks.sliding_window_view", "numpy.testing.assert_allclose",
	"numpy.testing.assert_almost_equal", "numpy.testing.assert_array_almost_equal",
	"numpy.testing.assert_array_equal", "numpy.testing.assert_array_less", "numpy.testing.assert_equal",
	"sympy.assumptions.Q", "sympy.assumptions.ask", "sympy.assumptions.assuming", "sympy.assumptions.refine",
	"sympy.core.add.Add", "sympy.core.basic.Basic", "sympy.core.expr.Expr", "sympy.core.function.Derivative",
	"sympy.core.function.Function", "sympy.core.function.Lambda", "sympy.core.function.diff",
	"sympy.core.function.expand", "sympy.core.mul.Mul", "sympy.core.numbers.E", "sympy.core.numbers.Float",
	"sympy.core.numbers.I", "sympy.core.numbers.Integer", "sympy.core.numbers.Rational",
	"sympy.core.numbers.oo", "sympy.core.numbers.pi", "sympy.core.power.Pow", "sympy.core.relational.Eq",
	"sympy.core.relational.Ge", "sympy.core.relational.Gt", "sympy.core.relational.Le",
	"sympy.core.relational.Lt", "sympy.core.relational.Ne", "sympy.core.singleton.S",
	"sympy.core.symbol.Dummy", "sympy.core.symbol.Symbol", "sympy.core.symbol.Wild",
	"sympy.core.symbol.symbols", "sympy.core.sympify.sympify", "sympy.parsing.sympy_parser.T",
	"sympy.parsing.sympy_parser.auto_number", "sympy.parsing.sympy_parser.auto_symbol",
	"sympy.parsing.sympy_parser.convert_xor", "sympy.parsing.sympy_parser.factorial_notation",
	"sympy.parsing.sympy_parser.function_exponentiation", "sympy.parsing.sympy_parser.implicit_application",
	"sympy.parsing.sympy_parser.implicit_multiplication",
	"sympy.parsing.sympy_parser.implicit_multiplication_application",
	"sympy.parsing.sympy_parser.parse_expr", "sympy.parsing.sympy_parser.rationalize",
	"sympy.parsing.sympy_parser.split_symbols", "sympy.parsing.sympy_parser.standard_transformations",
	"sympy.printing.latex.latex", "sympy.printing.pprint",
	"sympy.printing.pretty.pprint", "sympy.printing.pretty.pretty", "sympy.printing.sstr",
	"sympy.utilities.iterables.bracelets", "sympy.utilities.iterables.cartes",
	"sympy.utilities.iterables.flatten", "sympy.utilities.iterables.generate_derangements",
	"sympy.utilities.iterables.group", "sympy.utilities.iterables.has_dups",
	"sympy.utilities.iterables.iproduct", "sympy.utilities.iterables.multiset_combinations",
	"sympy.utilities.iterables.multiset_partitions", "sympy.utilities.iterables.multiset_permutations",
	"sympy.utilities.iterables.necklaces", "sympy.utilities.iterables.ordered_partitions",
	"sympy.utilities.iterables.partitions", "sympy.utilities.iterables.permute_signs",
	"sympy.utilities.iterables.sift", "sympy.utilities.iterables.signed_permutations",
	"sympy.utilities.iterables.subsets", "sympy.utilities.iterables.uniq",
	"sympy.utilities.iterables.variations", "sympy.utilities.lambdify.lambdify",
	"sys.byteorder", "sys.exit", "sys.float_info", "sys.get_int_max_str_digits", "sys.getrecursionlimit",
	"sys.getsizeof", "sys.int_info", "sys.maxsize", "sys.maxunicode", "sys.set_int_max_str_digits",
	"sys.setrecursionlimit", "sys.stdout.flush", "sys.stdout.write", "sys.version", "sys.version_info",
	"time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns", "time.process_time",
	"time.process_time_ns", "time.sleep", "time.strftime", "time.time", "time.time_ns",
}

# Modules from which everything may be imported by *.
star_imports := {
	"cmath", "collections", "dataclasses", "decimal", "fractions", "functools", "itertools", "math",
	"mpmath", "numpy", "numpy.linalg", "random", "statistics", "sympy", "sympy.abc", "sympy.calculus.util",
	"sympy.combinatorics", "sympy.functions", "sympy.geometry", "sympy.logic", "sympy.matrices",
	"sympy.ntheory", "sympy.physics.units", "sympy.solvers", "sympy.stats", "typing",
}

# Modules that programs often ask for and that are not installed.
absent_modules := {
	"IPython", "PIL", "altair", "autograd", "bokeh", "colorama", "control", "cupy", "cv2", "cvxpy", "dask",
	"filterpy", "galois", "gmpy2", "h5py", "ipywidgets", "jax", "keras", "lightgbm", "matplotlib", "mip",
	"more_itertools", "nashpy", "networkx", "nltk", "numba", "numexpr", "ortools", "pandas", "pint",
	"polars", "pulp", "pyarrow", "pygame", "rich", "sage", "scipy", "seaborn", "shapely", "simpy", "skimage",
	"sklearn", "sortedcontainers", "statsmodels", "tabulate", "tensorflow", "torch", "tqdm", "uncertainties",
	"xgboost", "z3",
}

# Named to a program that asks for one of those.
available_modules := {
	"collections", "decimal", "fractions", "functools", "itertools", "json", "math", "mpmath",
	"numpy", "plotly", "random", "re", "statistics", "sympy",
}

# Builtins that may not be named at all, called or not.
blocked_names := {
	"__import__", "breakpoint", "compile", "delattr", "eval", "exec", "getattr", "globals", "locals",
	"memoryview", "open", "setattr",
}

# Builtins that may be named only where the program gives the name a meaning of its own.
blocked_unless_bound := {
	"copyright", "credits", "dir", "exit", "help", "input", "license", "quit", "vars",
}

# Attributes that may not be named on anything: frames and code objects, modules that lead to the
# system, functions that read, write or run.
blocked_attributes := {
	"DataSource", "ForwardRef", "LoadLibrary", "Popen", "ag_await", "ag_code", "ag_frame",
	"as_strided", "attrgetter", "autowrap", "bltns", "builtins", "cdll", "check_call",
	"check_output", "co_code", "co_consts", "codegen", "cplot", "cr_await", "cr_code",
	"cr_frame", "cr_origin", "create_connection", "ctypes", "ctypeslib", "dlopen", "environ",
	"environb", "evaluate_forward_ref", "exec_", "execv", "execve", "execvp", "f2py", "f_back",
	"f_builtins", "f_code", "f_globals", "f_locals", "f_trace", "forkpty", "format_map",
	"fromfd", "fromfile", "frompyfunc", "fromregex", "full_figure_for_development",
	"func_code", "func_globals", "genfromtxt", "get_module", "get_type_hints", "getoutput",
	"gi_code", "gi_frame", "gi_yieldfrom", "import_module", "importlib", "libmp",
	"load_library", "load_module", "loadtxt", "memmap", "methodcaller", "mro",
	"npy_load_module", "open_latin1", "open_memmap", "optional_imports", "pickle", "pkgutil",
	"popen", "popen2", "posix", "pythonapi", "recfromcsv", "recfromtxt", "runstring",
	"runtests", "save_raw", "savetxt", "savez", "setflags", "shutil", "singledispatch",
	"splot", "subprocess", "sys", "tb_frame", "tb_next", "to_image", "tofile", "urlopen",
	"windll", "with_traceback", "write_html", "write_image", "write_json",
}

# The same, unless the program defines an attribute of that name itself.
borrowed_attributes := {
	"asyncio", "atexit", "backend", "codecs", "compat", "contextlib", "distutils", "dump",
	"external", "fork", "format_field", "gc", "get_data", "get_field", "get_value", "getfield",
	"gtk", "identify", "inspect", "kaleido", "linecache", "logging", "marshal", "measure",
	"mmap", "modules", "multiprocessing", "obj", "offline", "orca", "os", "overrides",
	"pkgdata", "preview", "pty", "renderers", "rundocs", "runpy", "setfield", "signal", "six",
	"socket", "ssl", "system", "tempfile", "threading", "timeutils", "tokenize", "traceback",
	"urllib", "vformat", "warnings", "weakref", "webbrowser",
}

# Names of allowed modules that may not be used: other modules, files, processes, evaluated text.
blocked_paths := {
	"calendar.sys", "collections.abc.sys", "copy.copyreg", "copy.dispatch_table",
	"dataclasses.builtins", "dataclasses.inspect", "dataclasses.keyword",
	"dataclasses.make_dataclass", "dataclasses.sys", "dataclasses.types", "datetime.sys",
	"enum.bltns", "enum.global_enum", "enum.sys", "fractions.operator", "fractions.re",
	"fractions.sys", "functools.singledispatch", "functools.singledispatchmethod",
	"json.codecs", "json.decoder", "json.detect_encoding", "json.dump", "json.encoder",
	"json.load", "json.scanner", "json.tool", "mpmath.calculus.sys", "mpmath.cplot",
	"mpmath.ctx_base", "mpmath.ctx_fp", "mpmath.ctx_iv", "mpmath.ctx_mp",
	"mpmath.ctx_mp_python", "mpmath.doctests", "mpmath.fp.plot", "mpmath.function_docs",
	"mpmath.identification", "mpmath.identify", "mpmath.iv.plot", "mpmath.libmp",
	"mpmath.math2", "mpmath.mp.plot", "mpmath.plot", "mpmath.rational", "mpmath.runtests",
	"mpmath.splot", "mpmath.usertools", "mpmath.visualization", "numpy.DataSource",
	"numpy.add_docstring", "numpy.add_newdoc", "numpy.add_newdoc_ufunc", "numpy.as_strided",
	"numpy.byte_bounds", "numpy.char.sys", "numpy.compat", "numpy.core", "numpy.ctypeslib",
	"numpy.deprecate", "numpy.deprecate_with_doc", "numpy.disp", "numpy.distutils",
	"numpy.f2py", "numpy.fft.helper", "numpy.fromfile", "numpy.frompyfunc", "numpy.fromregex",
	"numpy.genfromtxt", "numpy.get_include", "numpy.getbufsize", "numpy.info", "numpy.lib",
	"numpy.linalg.lapack_lite", "numpy.linalg.linalg", "numpy.load", "numpy.loadtxt",
	"numpy.lookfor", "numpy.ma.core", "numpy.memmap", "numpy.open_memmap",
	"numpy.random.bit_generator", "numpy.random.mtrand", "numpy.rec", "numpy.recfromcsv",
	"numpy.recfromtxt", "numpy.safe_eval", "numpy.save", "numpy.savetxt", "numpy.savez",
	"numpy.savez_compressed", "numpy.set_numeric_ops", "numpy.set_string_function",
	"numpy.setbufsize", "numpy.seterrcall", "numpy.seterrobj", "numpy.show_config",
	"numpy.show_runtime", "numpy.source", "numpy.test", "numpy.tofile", "numpy.who",
	"operator.attrgetter", "operator.methodcaller", "plotly.data", "plotly.express.data",
	"plotly.express.imshow_utils", "plotly.express.optional_imports",
	"plotly.express.trendline_functions", "plotly.figure_factory.optional_imports",
	"plotly.figure_factory.utils", "plotly.io", "plotly.iplot", "plotly.offline",
	"plotly.optional_imports", "plotly.plot", "plotly.tools", "plotly.utils", "re.copyreg",
	"re.enum", "re.functools", "re.template", "statistics.numbers", "statistics.random",
	"statistics.sys", "string.Formatter", "sympy.algebras", "sympy.autowrap", "sympy.codegen",
	"sympy.core.cache", "sympy.core.intfunc", "sympy.doctest", "sympy.dotprint",
	"sympy.external", "sympy.get_class", "sympy.get_resource", "sympy.import_module",
	"sympy.init_session", "sympy.interactive", "sympy.interactive_traversal",
	"sympy.lambdastr", "sympy.memoize_property", "sympy.multipledispatch", "sympy.pager_print",
	"sympy.parsing", "sympy.parsing.latex", "sympy.parsing.mathematica",
	"sympy.parsing.maxima", "sympy.plot_backends", "sympy.plotting", "sympy.preview",
	"sympy.print_gtk", "sympy.print_tree", "sympy.public", "sympy.release", "sympy.source",
	"sympy.strategies", "sympy.test", "sympy.testing", "sympy.threaded", "sympy.timed",
	"sympy.ufuncify", "sympy.view", "sympy.xthreaded", "textwrap.re", "typing.ForwardRef",
	"typing.contextlib", "typing.evaluate_forward_ref", "typing.get_type_hints",
	"typing.stdlib_re", "typing.sys", "typing.types", "typing.warnings",
}

# Private attributes that are part of a published interface.
allowed_private := {
	"_asdict", "_field_defaults", "_fields", "_make", "_name_", "_replace", "_value_",
}

# Private attributes behind which standard modules keep other modules.
never_private := {
	"_abc", "_ast", "_builtins", "_codecs", "_collections", "_collections_abc", "_ctypes", "_imp",
	"_inspect", "_io", "_module", "_operator", "_os", "_pickle", "_posixsubprocess", "_random",
	"_signal", "_socket", "_sys", "_thread", "_threading", "_types", "_warnings", "_weakref",
	"_winapi",
}

# Special methods that a class may define, and that may be called on super() or on a class of the
# program.
definable_dunders := {
	"__abs__", "__add__", "__and__", "__bool__", "__bytes__", "__call__", "__ceil__", "__complex__",
	"__contains__", "__copy__", "__deepcopy__", "__delitem__", "__divmod__", "__enter__", "__eq__",
	"__exit__", "__float__", "__floor__", "__floordiv__", "__format__", "__ge__", "__getitem__", "__gt__",
	"__hash__", "__iadd__", "__iand__", "__ifloordiv__", "__ilshift__", "__imatmul__", "__imod__",
	"__imul__", "__index__", "__init__", "__int__", "__invert__", "__ior__", "__ipow__", "__irshift__",
	"__isub__", "__iter__", "__itruediv__", "__ixor__", "__le__", "__len__", "__length_hint__", "__lshift__",
	"__lt__", "__matmul__", "__missing__", "__mod__", "__mul__", "__ne__", "__neg__", "__new__", "__next__",
	"__or__", "__pos__", "__post_init__", "__pow__", "__radd__", "__rand__", "__rdivmod__", "__repr__",
	"__reversed__", "__rfloordiv__", "__rlshift__", "__rmatmul__", "__rmod__", "__rmul__", "__ror__",
	"__round__", "__rpow__", "__rrshift__", "__rshift__", "__rsub__", "__rtruediv__", "__rxor__",
	"__setitem__", "__sizeof__", "__str__", "__sub__", "__truediv__", "__trunc__", "__xor__",
}

# Special names that may be read.
readable_dunders := {
	"__cause__", "__class__", "__context__", "__debug__", "__doc__", "__name__",
	"__qualname__", "__version__",
}

# Special names that may be assigned.
assignable_dunders := {
	"__all__", "__author__", "__doc__", "__match_args__", "__slots__", "__version__",
}

# Special names that may stand in texts, beside those that a class may define.
texts_of_dunders := {"__doc__", "__main__", "__name__", "__qualname__", "__version__"}

# Private names that may be used at all: read by rule private-name, which is on in strict profiles.
plain_private := {"_", "__name__"}

# Statements and expressions that may not be used.
blocked_syntax := {
	"AsyncComprehension", "AsyncFor", "AsyncFunctionDef", "AsyncWith", "Await", "TryStar",
	"TypeAlias",
}

# Statements and expressions that the rules know: anything else is refused until they do.
known_syntax := {
	"AnnAssign", "Assert", "Assign", "AugAssign", "Break", "ClassDef", "Continue", "Delete",
	"DictComp", "Expr", "For", "FunctionDef", "GeneratorExp", "Global", "If", "Import",
	"ImportFrom", "Lambda", "ListComp", "Match", "NamedExpr", "Nonlocal", "Pass", "Raise",
	"Return", "SetComp", "Try", "While", "With", "Yield", "YieldFrom",
}

# Classes that may not be derived from: they make classes.
blocked_bases := {
	"abc.ABCMeta", "enum.EnumMeta", "enum.EnumType", "type", "typing.NamedTupleMeta",
}

# Metaclasses that may be named.
allowed_metaclasses := {"abc.ABCMeta", "enum.EnumMeta", "enum.EnumType"}

# Attributes of modules that may be set to anything.
allowed_stores := {
	"mpmath.iv.dps", "mpmath.iv.prec", "mpmath.mp.dps", "mpmath.mp.prec", "mpmath.mp.pretty",
}

# Libraries that evaluate texts handed to them, by the beginning of the path.
evaluating_libraries := {"mpmath.", "sympy."}

# Methods that evaluate texts, whatever they are called on.
evaluating_methods := {
	".as_poly", ".coeff", ".diff", ".equals", ".evalf", ".integrate", ".limit", ".n", ".nseries", ".rewrite",
	".series", ".subs", ".xreplace",
}

# Functions of these libraries that only write the text out.
writing_functions := {
	"sympy.init_printing", "sympy.latex", "sympy.pprint", "sympy.pretty", "sympy.pretty_print",
	"sympy.print_latex", "sympy.sstr",
}

# What a text that is evaluated may not hold: texts in texts, attributes, functions, loops,
# assignments.
code_pattern := `'[^'\n]+'|"[^"\n]+"|[\pL_][\pL_0-9]*\s*\.\s*[\pL_]|[)\]}]\s*\.\s*[\pL_]|[0-9]\.[\pL_]{2,}|\(\s*lambda\b|\blambda\b[^:]*:\s*[^0-9\s]|\bfor\b.+\bin\b|:=`

# Coding cookies that may stand in a program. None has any effect.
harmless_codings := {
	"coding:ascii", "coding:cp1252", "coding:iso-8859-1", "coding:iso-8859-15", "coding:latin-1",
	"coding:latin1", "coding:us-ascii", "coding:utf-8", "coding:utf8", "coding:utf-8-sig",
}

max_nodes := 20000

max_integer_bits := 4096

max_nested_finally := 3

# ---------------------------------------------------------------------------
# What the program uses, as sets to meet the lists
# ---------------------------------------------------------------------------

names_used := object.keys(input.ast.names)

attributes_used := object.keys(input.ast.attributes)

paths_used := object.keys(input.ast.paths)

values_used := object.keys(input.ast.values)

calls_used := object.keys(input.ast.calls)

words_used := object.keys(input.ast.words)

kinds_used := object.keys(input.ast.kinds)

# ---------------------------------------------------------------------------
# Imports
# ---------------------------------------------------------------------------

# METADATA
# title: Import of a blocked module
# description: Only the listed modules may be imported, each by its exact name.
# custom:
#   id: blocked-import
#   hint: "Use sympy, numpy, mpmath, plotly or the standard modules for mathematics and text; there are no files, processes or network."
#   url: policies/README.md#blocked-import
deny contains {"rule": "blocked-import", "msg": msg, "at": entry.at, "subject": module} if {
	some module in refused_modules
	root := root_of(module)
	not absent(root)
	some entry in input.ast.imports[root]
	entry.module == module
	msg := sprintf("import of %s is blocked", [module])
}

deny contains {"rule": "blocked-import", "msg": msg, "at": entry.at, "subject": entry.module} if {
	input.ast.found.star == true
	some module in (star_imported - star_imports)
	module in usable_modules
	some entries in input.ast.imports
	some entry in entries
	entry.module == module
	entry.name == "*"
	msg := sprintf("from %s import * is blocked: name what is imported", [entry.module])
}

# METADATA
# title: Import of a module that is not installed
# description: The module is not refused; it is not there.
# custom:
#   id: missing-import
#   hint: "Write it with numpy, sympy or mpmath, or in plain Python."
#   url: policies/README.md#missing-import
deny contains {"rule": "missing-import", "msg": msg, "at": entry.at, "subject": module} if {
	some module in refused_modules
	root := root_of(module)
	absent(root)
	some entry in input.ast.imports[root]
	entry.module == module
	present := {name | some name in available_modules; not taken_out("allowed_imports", name)}
	msg := sprintf("%s is not installed here; available: %s", [root, concat(", ", present)])
}

imported_modules contains entry.module if {
	some entries in input.ast.imports
	some entry in entries
}

refused_modules := unlisted_modules | taken_out_modules

unlisted_modules contains module if {
	some module in ((imported_modules - allowed_imports) - partial_modules)
	not put_in("allowed_imports", module)
	not put_in("partial_modules", module)
}

taken_out_modules contains module if {
	some module in changes.allowed_imports.remove
	module in imported_modules
}

taken_out_modules contains module if {
	some module in changes.partial_modules.remove
	module in imported_modules
}

usable_modules := imported_modules - refused_modules

root_of(module) := "." if startswith(module, ".")

root_of(module) := split(module, ".")[0] if not startswith(module, ".")

absent(root) if {
	root in absent_modules
	not taken_out("absent_modules", root)
}

absent(root) if put_in("absent_modules", root)

# Also those of a session's earlier cells.
star_imported contains module if some module in input.ast.aliases["*"]

# METADATA
# title: Use of a module of which only parts are open
# description: Some modules may be imported for a few names only, and never handed on.
# custom:
#   id: partial-module
#   hint: "Use only what is listed for this module; write output with print()."
#   url: policies/README.md#partial-module
deny contains {"rule": "partial-module", "msg": msg, "at": at, "subject": path} if {
	some module in partials_in_use
	some path, places in input.ast.paths
	startswith(path, concat("", [module, "."]))
	not open_name(path)
	not begins_open_name(path)
	some at in places
	msg := sprintf("%s is blocked: of %s only %s may be used", [path, module, open_names(module)])
}

deny contains {"rule": "partial-module", "msg": msg, "at": at, "subject": path} if {
	some module in partials_in_use
	input.ast.found.values == true
	some path, places in input.ast.values
	begins_open_name(path)
	not open_name(path)
	at_or_under(path, module)
	some at in places
	msg := sprintf("%s as a value is blocked: of %s only %s may be used", [path, module, open_names(module)])
}

deny contains {"rule": "partial-module", "msg": msg, "at": entry.at, "subject": module} if {
	input.ast.found.star == true
	some module in (partials_in_use & star_imported)
	some entries in input.ast.imports
	some entry in entries
	entry.module == module
	entry.name == "*"
	msg := sprintf("everything of %s is blocked: only %s may be used", [module, open_names(module)])
}

partials_in_use contains module if {
	some module in (paths_used & partial_modules)
	not taken_out("partial_modules", module)
}

open_name(path) if {
	path in partial_names
	not taken_out("partial_names", path)
}

open_name(path) if put_in("partial_names", path)

open_name(path) if {
	some name in partial_names
	startswith(path, concat("", [name, "."]))
}

begins_open_name(path) if {
	some name in partial_names
	startswith(name, concat("", [path, "."]))
}

at_or_under(path, module) if path == module

at_or_under(path, module) if startswith(path, concat("", [module, "."]))

open_names(module) := concat(", ", {name |
	some name in partial_names
	startswith(name, concat("", [module, "."]))
})

# ---------------------------------------------------------------------------
# Names and attributes
# ---------------------------------------------------------------------------

# METADATA
# title: Blocked builtin
# description: These builtins evaluate text, open files, or reach what has no name in the program. They may not be named, called or not.
# custom:
#   id: blocked-name
#   hint: "Write the expression or the attribute out; for a choice by name use a dict of functions. There are no files and no input."
#   url: policies/README.md#blocked-name
deny contains {"rule": "blocked-name", "msg": msg, "at": at, "subject": name} if {
	some name in blocked_names_used
	some at in input.ast.names[name]
	msg := sprintf("%s() is blocked", [name])
}

blocked_names_used contains name if {
	some name in (names_used & blocked_names)
	not taken_out("blocked_names", name)
}

blocked_names_used contains name if {
	some name in changes.blocked_names.add
	input.ast.names[name]
}

blocked_names_used contains name if {
	some name in (names_used & blocked_unless_bound)
	not input.ast.bound[name]
	not taken_out("blocked_unless_bound", name)
}

blocked_names_used contains name if {
	some name in changes.blocked_unless_bound.add
	input.ast.names[name]
	not input.ast.bound[name]
}

# METADATA
# title: Blocked attribute
# description: Attributes that lead to frames, to other modules, to files or to evaluated text.
# custom:
#   id: blocked-attribute
#   hint: "Use the documented functions of the library by their full name; an attribute of your own needs another name."
#   url: policies/README.md#blocked-attribute
deny contains {"rule": "blocked-attribute", "msg": msg, "at": at, "subject": name} if {
	some name in blocked_attributes_used
	some at in input.ast.attributes[name]
	msg := sprintf("attribute %s is blocked", [name])
}

blocked_attributes_used contains name if {
	some name in (attributes_used & blocked_attributes)
	not taken_out("blocked_attributes", name)
}

blocked_attributes_used contains name if {
	some name in changes.blocked_attributes.add
	input.ast.attributes[name]
}

blocked_attributes_used contains name if {
	some name in (attributes_used & borrowed_attributes)
	not own_attribute(name)
	not taken_out("borrowed_attributes", name)
}

blocked_attributes_used contains name if {
	some name in changes.borrowed_attributes.add
	input.ast.attributes[name]
	not own_attribute(name)
}

own_attribute(name) if {
	input.ast.members[name]
	not named_in_a_path(name)
	not module_handed_on
}

# Whoever takes a module as a value reads its attributes under any name.
module_handed_on if {
	input.ast.found.values == true
	count(values_used & allowed_imports) > 0
}

named_in_a_path(name) if {
	some path in paths_used
	endswith(path, concat("", [".", name]))
}

# METADATA
# title: Blocked part of an allowed library
# description: Parts of the allowed modules that read or write files, start processes, evaluate text, or are other modules.
# custom:
#   id: blocked-path
#   hint: "Use the library's functions for computing; print results, and leave figures in a variable or call show()."
#   url: policies/README.md#blocked-path
deny contains {"rule": "blocked-path", "msg": msg, "at": at, "subject": path} if {
	some path in blocked_paths_used
	some at in input.ast.paths[path]
	not excused(path, at)
	msg := sprintf("%s is blocked", [path])
}

blocked_paths_used contains path if {
	some path in (paths_used & blocked_paths)
	not taken_out("blocked_paths", path)
}

blocked_paths_used contains path if {
	some path in changes.blocked_paths.add
	input.ast.paths[path]
}

# A star import makes the module's names names of the program.
deny contains {"rule": "blocked-path", "msg": msg, "at": at, "subject": path} if {
	input.ast.found.star == true
	some module in star_imported
	some name, places in input.ast.names
	path := concat(".", [module, name])
	path in blocked_paths
	not input.ast.bound[name]
	some at in places
	msg := sprintf("%s is blocked", [path])
}

# A module that is handed on as a value can be read under any name.
deny contains {"rule": "blocked-path", "msg": msg, "at": at, "subject": path} if {
	input.ast.found.values == true
	some module in (values_used & allowed_imports)
	some path in blocked_paths
	startswith(path, concat("", [module, "."]))
	name := regex.replace(path, `^.*\.`, "")
	not input.ast.members[name]
	some at in input.ast.attributes[name]
	not excused(path, at)
	msg := sprintf("%s is blocked", [path])
}

# The place begins a longer path that is open, and all places are known.
excused(path, at) if {
	not input.ast.truncated.paths[path]
	some open in (paths_used & partial_names)
	some longer in input.ast.paths[open]
	array.slice(split(longer, ":"), 0, 2) == array.slice(split(at, ":"), 0, 2)
}

# METADATA
# title: Private attribute
# description: Names that begin with an underscore belong to the library, unless the program defines them itself.
# custom:
#   id: private-attribute
#   hint: "Use the public interface; type(x).__name__ gives a class's name."
#   url: policies/README.md#private-attribute
deny contains {"rule": "private-attribute", "msg": msg, "at": entry.at, "subject": name} if {
	input.ast.found.private == true
	some name, entries in input.ast.private
	some entry in entries
	private_refused(name, entry)
	msg := sprintf("private attribute %s is blocked", [name])
}

private_refused(name, entry) if {
	entry.as in {"attribute", "format", "pattern", "store"}
	not dunder(name)
	not name in allowed_private
	foreign(name, entry)
}

private_refused(name, entry) if {
	entry.as == "import"
	not name in readable_dunders
}

private_refused(name, entry) if {
	dunder(name)
	entry.as in {"attribute", "format", "pattern", "store"}
	not dunder_attribute(name, entry)
}

foreign(name, _) if not input.ast.members[name]

foreign(name, _) if name in never_private

foreign(name, entry) if {
	imported_name(entry.on)
	count(name) > 0
}

imported_name(on) if contains(on, ".")

imported_name(on) if input.ast.imports[on]

dunder_attribute(name, entry) if {
	entry.as == "attribute"
	name in readable_dunders
}

# Operators by their long names do no more than the operators. Making objects does.
dunder_attribute(name, entry) if {
	entry.as == "attribute"
	name in definable_dunders
	name != "__new__"
	not of_type(entry)
}

of_type(entry) if entry.on == "type"

dunder_attribute("__new__", entry) if {
	entry.as == "attribute"
	own_class(entry.on)
}

dunder_attribute(name, entry) if {
	entry.as == "store"
	name in {"__doc__", "__name__", "__qualname__"}
	count(entry.at) > 0
}

own_class("super()")

own_class(on) if "class" in input.ast.bound[on]

dunder(name) if {
	startswith(name, "__")
	endswith(name, "__")
}

# METADATA
# title: Blocked special name
# description: Special methods and attributes change how the interpreter treats objects; a class may define the ordinary ones.
# custom:
#   id: blocked-dunder
#   hint: "Define __init__, __repr__, operators and the like; leave attribute access, pickling, buffers and metaclasses alone."
#   url: policies/README.md#blocked-dunder
deny contains {"rule": "blocked-dunder", "msg": msg, "at": entry.at, "subject": name} if {
	input.ast.found.private == true
	some name, entries in input.ast.private
	dunder(name)
	count(name) > 4
	some entry in entries
	dunder_refused(name, entry)
	msg := sprintf("special name %s is blocked", [name])
}

dunder_refused(name, entry) if {
	entry.as in {"def", "keyword"}
	not name in definable_dunders
}

dunder_refused(name, entry) if {
	entry.as == "name"
	not name in readable_dunders
	not name in definable_dunders
	not name in assignable_dunders
}

dunder_refused(name, entry) if {
	entry.as == "bind"
	not name in assignable_dunders
	not name in definable_dunders
}

dunder_refused(name, entry) if {
	entry.as == "field"
	not name in assignable_dunders
	not field_of_method(name, entry.value)
}

field_of_method(name, "None") if name in definable_dunders

field_of_method(name, value) if {
	name in definable_dunders
	value in definable_dunders
}

field_of_method(name, value) if {
	name in definable_dunders
	"def" in input.ast.bound[value]
	input.ast.members[value]
}

# METADATA
# title: Any private name
# description: In strict profiles nothing whose name begins with an underscore may be used.
# custom:
#   id: private-name
#   hint: "Give it a name without the underscore."
#   url: policies/README.md#private-name
deny contains {"rule": "private-name", "msg": msg, "at": entry.at, "subject": name} if {
	input.ast.found.private == true
	some name, entries in input.ast.private
	not plain(name)
	some entry in entries
	entry.as in {"attribute", "bind", "format", "import", "keyword", "name", "pattern", "store"}
	msg := sprintf("dunder names and attributes are blocked: %s", [name])
}

plain(name) if {
	name in plain_private
	not taken_out("plain_private", name)
}

plain(name) if put_in("plain_private", name)

# METADATA
# title: Change of an imported module
# description: A module's functions stay what they are. Numbers may be set, and the precision of mpmath.
# custom:
#   id: module-store
#   hint: "Define a function of your own under another name; assign numbers to names of your own."
#   url: policies/README.md#module-store
deny contains {"rule": "module-store", "msg": msg, "at": entry.at, "subject": path} if {
	input.ast.found.stores == true
	some path, entries in input.ast.stores
	not storable(path)
	some entry in entries
	entry.value != "number"
	msg := sprintf("setting %s is blocked", [path])
}

storable(path) if {
	path in allowed_stores
	not taken_out("allowed_stores", path)
}

storable(path) if put_in("allowed_stores", path)

# ---------------------------------------------------------------------------
# Texts
# ---------------------------------------------------------------------------

# METADATA
# title: Code in a text that a library evaluates
# description: sympy and mpmath evaluate texts handed to them as Python; only plain formulas may be.
# custom:
#   id: code-in-text
#   hint: "Hand over a plain formula such as 3*x**2, or build the expression from symbols."
#   url: policies/README.md#code-in-text
deny contains {"rule": "code-in-text", "msg": msg, "at": entry.at, "subject": key} if {
	input.ast.found.calls == true
	some key, entries in input.ast.calls
	strings.any_prefix_match(key, evaluating_libraries)
	not key in writing_functions
	some entry in entries
	code_in(entry)
	msg := sprintf("code in a text for %s is blocked", [key])
}

deny contains {"rule": "code-in-text", "msg": msg, "at": entry.at, "subject": key} if {
	input.ast.found.calls == true
	some key in (calls_used & evaluating_methods)
	some entry in input.ast.calls[key]
	code_in(entry)
	msg := sprintf("code in a text for %s() is blocked", [key])
}

deny contains {"rule": "code-in-text", "msg": msg, "at": entry.at, "subject": key} if {
	input.ast.found.star == true
	some key, entries in input.ast.calls
	not contains(key, ".")
	not concat(".", ["sympy", key]) in writing_functions
	some entry in entries
	code_in(entry)
	msg := sprintf("code in a text for %s() is blocked", [key])
}

deny contains {"rule": "code-in-text", "msg": msg, "at": at, "subject": word} if {
	input.ast.found.words == true
	evaluates_text
	some word in code_words
	not startswith(word, "__")
	some at in input.ast.words[word]
	msg := sprintf("%s() in a text is blocked: sympy evaluates texts", [word])
}

code_words contains word if some word in (words_used & blocked_names)

code_words contains word if some word in (words_used & blocked_unless_bound)

evaluates_text if {
	some paths in input.ast.aliases
	some path in paths
	strings.any_prefix_match(concat("", [path, "."]), evaluating_libraries)
}

code_in(entry) if entry.cut

code_in(entry) if {
	some text in entry.texts
	regex.match(code_pattern, text)
}

code_in(entry) if {
	some text in entry.texts
	contains(text, "(")
	some word in regex.find_n(`[\pL_][\pL_0-9]*`, text, -1)
	word in blocked_names
}

# METADATA
# title: Special name in a text
# description: Texts with names such as __class__ serve to reach attributes that the program may not name. Docstrings and printed texts are free.
# custom:
#   id: dunder-in-text
#   hint: "Leave the special name out of the text, or write it with spaces."
#   url: policies/README.md#dunder-in-text
deny contains {"rule": "dunder-in-text", "msg": msg, "at": at, "subject": word} if {
	input.ast.found.words == true
	some word, places in input.ast.words
	startswith(word, "__")
	dunder_or_beginning(word)
	not word in texts_of_dunders
	not word in definable_dunders
	some at in places
	msg := sprintf("special name %s in a text is blocked", [word])
}

dunder_or_beginning(word) if endswith(word, "__")

dunder_or_beginning(word) if {
	some known in {"__bases__", "__builtins__", "__class__", "__code__", "__dict__", "__globals__", "__import__", "__mro__", "__subclasses__"}
	count(word) > 3
	startswith(known, word)
}

# METADATA
# title: Template that is not known
# description: str.format reads attributes of its arguments; where the template is a literal its fields are checked.
# custom:
#   id: dynamic-format
#   hint: "Use an f-string, or call .format on a literal template."
#   url: policies/README.md#dynamic-format
deny contains {"rule": "dynamic-format", "msg": "the template of .format is not a literal", "at": at, "subject": "format"} if {
	input.ast.found.formats == true
	some at in input.ast.formats.dynamic
}

# METADATA
# title: str.format as a value
# description: Handed on, str.format reads attributes out of the policy's sight.
# custom:
#   id: format-value
#   hint: "Use an f-string, or call .format on a literal template."
#   url: policies/README.md#format-value
deny contains {"rule": "format-value", "msg": "str.format as a value is blocked", "at": at, "subject": "format"} if {
	input.ast.found.formats == true
	some kind in ["unbound", "value"]
	some at in input.ast.formats[kind]
}

# METADATA
# title: Hidden text
# description: Characters that turn the direction of writing make a program read differently from what it does; most coding cookies do too.
# custom:
#   id: hidden-text
#   hint: "Leave out direction marks and coding cookies; programs are UTF-8."
#   url: policies/README.md#hidden-text
deny contains {"rule": "hidden-text", "msg": msg, "at": at, "subject": fact} if {
	input.ast.found.source == true
	some fact, places in input.ast.source
	not fact in harmless_codings
	some at in places
	msg := sprintf("text that hides what it does is blocked (%s)", [fact])
}

# ---------------------------------------------------------------------------
# Syntax
# ---------------------------------------------------------------------------

# METADATA
# title: Blocked statement
# description: Statements that the profile does not admit.
# custom:
#   id: blocked-syntax
#   hint: "Write it with plain functions, for and try/except."
#   url: policies/README.md#blocked-syntax
deny contains {"rule": "blocked-syntax", "msg": msg, "at": at, "subject": kind} if {
	some kind in blocked_syntax_used
	some at in places_or_none(input.ast.kinds[kind])
	msg := sprintf("%s is blocked", [spelled(kind)])
}

blocked_syntax_used contains kind if {
	some kind in (kinds_used & blocked_syntax)
	not taken_out("blocked_syntax", kind)
}

blocked_syntax_used contains kind if {
	some kind in changes.blocked_syntax.add
	input.ast.kinds[kind]
}

# Syntax that the rules do not know is refused until they do.
deny contains {"rule": "blocked-syntax", "msg": msg, "at": at, "subject": kind} if {
	some kind in ((kinds_used - known_syntax) - blocked_syntax)
	some at in places_or_none(input.ast.kinds[kind])
	msg := sprintf("%s is blocked: the policy does not know it", [kind])
}

places_or_none([]) := [""]

places_or_none(places) := places if count(places) > 0

spelled(kind) := object.get(
	{
		"AsyncComprehension": "async for in a comprehension", "AsyncFor": "async for",
		"AsyncFunctionDef": "async def", "AsyncWith": "async with", "Await": "await",
		"ClassDef": "class", "TryStar": "except*", "TypeAlias": "a type statement",
	},
	kind, kind,
)

# METADATA
# title: Making classes by hand
# description: Metaclasses and type() with three arguments make classes out of the policy's sight.
# custom:
#   id: class-making
#   hint: "Use a class statement without metaclass=."
#   url: policies/README.md#class-making
deny contains {"rule": "class-making", "msg": "type() with several arguments is blocked", "at": entry.at, "subject": "type"} if {
	input.ast.found.calls == true
	some entry in input.ast.calls.type
}

deny contains {"rule": "class-making", "msg": msg, "at": entry.at, "subject": base} if {
	input.ast.found.classes == true
	some entries in input.ast.classes
	some entry in entries
	some base in entry.bases
	base in blocked_bases
	msg := sprintf("deriving from %s is blocked", [base])
}

deny contains {"rule": "class-making", "msg": "metaclass= is blocked", "at": entry.at, "subject": name} if {
	input.ast.found.classes == true
	some name, entries in input.ast.classes
	some entry in entries
	some keyword in entry.keywords
	keyword in {"metaclass", "**"}
	not known_metaclass(entry)
}

known_metaclass(entry) if entry.metaclass in allowed_metaclasses

# METADATA
# title: Decorator that is an expression
# description: A decorator is a name, a dotted name, or a call of one.
# custom:
#   id: decorator-expression
#   hint: "Give the decorator a name first."
#   url: policies/README.md#decorator-expression
deny contains {"rule": "decorator-expression", "msg": "a decorator that is not a name is blocked", "at": at, "subject": "decorator"} if {
	input.ast.found.decorators == true
	some at in input.ast.decorators[""]
}

# METADATA
# title: Resizing without a check
# description: An array that is resized without the check of references leaves views into freed memory.
# custom:
#   id: unchecked-resize
#   hint: "Use np.resize(a, shape), which makes a new array."
#   url: policies/README.md#unchecked-resize
deny contains {"rule": "unchecked-resize", "msg": "resize(refcheck=) is blocked", "at": entry.at, "subject": "resize"} if {
	input.ast.found.calls == true
	some entry in input.ast.calls[".resize"]
	some keyword in entry.keywords
	keyword in {"refcheck", "**"}
}

# METADATA
# title: Figure shown by a renderer
# description: There is no browser and no notebook; show() without a renderer marks the figure as the answer.
# custom:
#   id: show-renderer
#   hint: "Call fig.show() without arguments."
#   url: policies/README.md#show-renderer
deny contains {"rule": "show-renderer", "msg": "show() with a renderer is blocked", "at": entry.at, "subject": "show"} if {
	input.ast.found.calls == true
	some entry in input.ast.calls[".show"]
	shows_by_renderer(entry)
}

shows_by_renderer(entry) if entry.args > 0

shows_by_renderer(entry) if {
	some keyword in entry.keywords
	keyword in {"renderer", "**"}
}

# METADATA
# title: Program beyond bounds
# description: Bounds on what is compiled, so that judging and compiling stay cheap.
# custom:
#   id: too-large
#   hint: "Compute large values and long lists in a loop instead of writing them out; nest try/finally less."
#   url: policies/README.md#too-large
deny contains {"rule": "too-large", "msg": msg, "at": "", "subject": "nodes"} if {
	input.code.nodes > max_nodes
	msg := sprintf("the program has %d syntax nodes; more than %d are blocked", [input.code.nodes, max_nodes])
}

deny contains {"rule": "too-large", "msg": msg, "at": at, "subject": "integer"} if {
	input.ast.found.integers == true
	some bits, places in input.ast.integers
	to_number(bits) > max_integer_bits
	some at in places
	msg := sprintf("an integer constant of %s bits is blocked; at most %d", [bits, max_integer_bits])
}

deny contains {"rule": "too-large", "msg": msg, "at": "", "subject": "finally"} if {
	input.ast.found.nesting == true
	input.ast.nesting.finally > max_nested_finally
	msg := sprintf("try/finally nested more than %d deep is blocked", [max_nested_finally])
}

# ---------------------------------------------------------------------------
# What the program may import at run time: what it names, and in a session,
# where functions of earlier cells may import, all that is allowed.
# ---------------------------------------------------------------------------

grants contains concat(":", ["import", module]) if some module in usable_modules

grants contains concat(":", ["import", module]) if {
	input.session
	some module in (allowed_imports | partial_modules)
	not taken_out("allowed_imports", module)
	not taken_out("partial_modules", module)
}

# ---------------------------------------------------------------------------
# Lists as they stand in the profile at hand: what profiles.yaml takes out of a list or puts
# into it.
# ---------------------------------------------------------------------------

changes := object.get(data.profiles[input.profile], "lists", {})

taken_out(list, name) if name in changes[list].remove

put_in(list, name) if name in changes[list].add
