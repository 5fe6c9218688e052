# METADATA
# title: What Python programs may use
# description: |
#   The lists stand first: an operator edits them here, or takes entries out and adds some for
#   one profile in profiles.yaml. Each is a set of literals, read by the rules in python_*.rego
#   and by vendor-sync. The rules look names up in the index of the syntax tree (schemas/pyast-1.json)
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
	"more_itertools", "nashpy", "networkx", "nltk", "numba", "numexpr", "ortools", "pint",
	"polars", "pulp", "pyarrow", "pygame", "rich", "sage", "scipy", "seaborn", "shapely", "simpy", "skimage",
	"sklearn", "sortedcontainers", "statsmodels", "tabulate", "tensorflow", "torch", "tqdm", "uncertainties",
	"xgboost", "z3",
}

# Modules that the libraries have for themselves.
withheld_modules := {"dateutil", "narwhals", "packaging", "pandas", "tzdata"}

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
	"check_output", "co_code", "co_consts", "codegen", "cplot", "cr_await", "cr_code", "cr_frame",
	"cr_origin", "create_connection", "ctypes", "ctypeslib", "dlopen", "environ", "environb",
	"evaluate_forward_ref", "exec_", "execv", "execve", "execvp", "f2py", "f_back", "f_builtins",
	"f_code", "f_globals", "f_locals", "f_trace", "forkpty", "format_map", "fromfd", "fromfile",
	"frompyfunc", "fromregex", "full_figure_for_development", "func_code", "func_globals",
	"genfromtxt", "get_class", "get_module", "get_type_hints", "getoutput", "gi_code", "gi_frame",
	"gi_yieldfrom", "import_module", "importlib", "lazy_function", "libmp", "load_library",
	"load_module", "loadtxt", "memmap", "methodcaller", "mro", "npy_load_module", "open_latin1",
	"open_memmap", "optional_imports", "pickle", "pkgutil", "popen", "popen2", "posix",
	"pythonapi", "recfromcsv", "recfromtxt", "runstring", "runtests", "save_raw", "savetxt",
	"savez", "setflags", "shutil", "singledispatch", "splot", "subprocess", "sys", "tb_frame",
	"tb_next", "to_image", "tofile", "urlopen", "windll", "with_traceback", "write_html",
	"write_image", "write_json",
}

# The same, unless the program defines an attribute of that name itself and nothing else in it
# can have one.
borrowed_attributes := {
	"asyncio", "atexit", "backend", "cmath", "codecs", "compat", "contextlib", "distutils", "dump",
	"external", "fork", "format_field", "functools", "gc", "get_data", "get_field", "get_value",
	"getfield", "gtk", "identify", "inspect", "itertools", "kaleido", "linecache", "logging",
	"marshal", "math", "measure", "mmap", "modules", "mpmath", "multiprocessing", "np", "numpy",
	"obj", "offline", "operator", "orca", "os", "overrides", "pkgdata", "plotly", "preview", "pty",
	"query", "renderers", "rundocs", "runpy", "setfield", "signal", "six", "socket", "ssl",
	"sympy", "system", "tempfile", "threading", "timeutils", "to_clipboard", "to_csv", "to_excel",
	"to_feather", "to_hdf", "to_orc", "to_parquet", "to_pickle", "to_sql", "to_stata", "to_xml",
	"tokenize", "traceback", "urllib", "vformat", "warnings", "weakref", "webbrowser",
}

# Of these, those that objects of a library have: by what is imported.
lenders := {
	"dump": {"numpy", "plotly", "sympy"}, "getfield": {"numpy", "plotly", "sympy"}, "identify": {"mpmath"},
	"query": {"plotly"}, "setfield": {"numpy", "plotly", "sympy"}, "to_clipboard": {"plotly"}, "to_csv": {"plotly"},
	"to_excel": {"plotly"}, "to_feather": {"plotly"}, "to_hdf": {"plotly"}, "to_orc": {"plotly"},
	"to_parquet": {"plotly"}, "to_pickle": {"plotly"}, "to_sql": {"plotly"}, "to_stata": {"plotly"},
	"to_xml": {"plotly"},
}

# Arguments that may not be named: trend lines of plotly.express call any method of pandas.
blocked_keywords := {
	"refcheck", "trendline_options",
}

# Names of allowed modules that may not be used: other modules, files, processes, evaluated text.
blocked_paths := {
	"calendar.sys", "collections.abc.sys", "copy.copyreg", "copy.dispatch_table",
	"dataclasses.builtins", "dataclasses.inspect", "dataclasses.keyword",
	"dataclasses.make_dataclass", "dataclasses.sys", "dataclasses.types", "datetime.sys",
	"enum.bltns", "enum.global_enum", "enum.sys", "fractions.operator", "fractions.re",
	"fractions.sys", "functools.WRAPPER_ASSIGNMENTS", "functools.WRAPPER_UPDATES",
	"functools.singledispatch", "functools.singledispatchmethod", "json.codecs", "json.decoder",
	"json.detect_encoding", "json.dump", "json.encoder", "json.load", "json.scanner", "json.tool",
	"mpmath.calculus.sys", "mpmath.cplot", "mpmath.ctx_base", "mpmath.ctx_fp", "mpmath.ctx_iv",
	"mpmath.ctx_mp", "mpmath.ctx_mp_python", "mpmath.doctests", "mpmath.fp.plot",
	"mpmath.function_docs", "mpmath.identification", "mpmath.identify", "mpmath.iv.plot",
	"mpmath.libmp", "mpmath.math2", "mpmath.mp.plot", "mpmath.plot", "mpmath.rational",
	"mpmath.runtests", "mpmath.splot", "mpmath.usertools", "mpmath.visualization",
	"numpy.DataSource", "numpy.add_docstring", "numpy.add_newdoc", "numpy.add_newdoc_ufunc",
	"numpy.as_strided", "numpy.byte_bounds", "numpy.char.sys", "numpy.compat", "numpy.core",
	"numpy.ctypeslib", "numpy.deprecate", "numpy.deprecate_with_doc", "numpy.disp",
	"numpy.distutils", "numpy.f2py", "numpy.fft.helper", "numpy.fromfile", "numpy.frompyfunc",
	"numpy.fromregex", "numpy.genfromtxt", "numpy.get_include", "numpy.getbufsize", "numpy.info",
	"numpy.lib", "numpy.linalg.lapack_lite", "numpy.linalg.linalg", "numpy.load", "numpy.loadtxt",
	"numpy.lookfor", "numpy.ma.core", "numpy.memmap", "numpy.open_memmap",
	"numpy.random.bit_generator", "numpy.random.mtrand", "numpy.rec", "numpy.recfromcsv",
	"numpy.recfromtxt", "numpy.safe_eval", "numpy.save", "numpy.savetxt", "numpy.savez",
	"numpy.savez_compressed", "numpy.set_numeric_ops", "numpy.set_string_function",
	"numpy.setbufsize", "numpy.seterrcall", "numpy.seterrobj", "numpy.show_config",
	"numpy.show_runtime", "numpy.source", "numpy.test", "numpy.tofile", "numpy.who",
	"operator.attrgetter", "operator.methodcaller", "plotly.data", "plotly.express.data",
	"plotly.express.get_trendline_results", "plotly.express.imshow_utils",
	"plotly.express.optional_imports", "plotly.express.trendline_functions",
	"plotly.figure_factory.optional_imports", "plotly.figure_factory.utils", "plotly.io",
	"plotly.iplot", "plotly.offline", "plotly.optional_imports", "plotly.plot", "plotly.tools",
	"plotly.utils", "re.copyreg", "re.enum", "re.functools", "re.template", "statistics.numbers",
	"statistics.random", "statistics.sys", "string.Formatter", "sympy.algebras", "sympy.autowrap",
	"sympy.codegen", "sympy.core.cache", "sympy.core.intfunc", "sympy.core.lazy_function",
	"sympy.doctest", "sympy.dotprint", "sympy.external", "sympy.get_class", "sympy.get_resource",
	"sympy.import_module", "sympy.init_session", "sympy.interactive",
	"sympy.interactive_traversal", "sympy.lambdastr", "sympy.lazy_function",
	"sympy.memoize_property", "sympy.multipledispatch", "sympy.pager_print", "sympy.parsing",
	"sympy.parsing.latex", "sympy.parsing.mathematica", "sympy.parsing.maxima",
	"sympy.plot_backends", "sympy.plotting", "sympy.preview", "sympy.print_gtk",
	"sympy.print_tree", "sympy.public", "sympy.release", "sympy.source", "sympy.strategies",
	"sympy.test", "sympy.testing", "sympy.threaded", "sympy.timed", "sympy.ufuncify", "sympy.view",
	"sympy.xthreaded", "textwrap.re", "typing.ForwardRef", "typing.contextlib",
	"typing.evaluate_forward_ref", "typing.get_type_hints", "typing.stdlib_re", "typing.sys",
	"typing.types", "typing.warnings",
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

# What may be called to derive a class from what it gives.
allowed_base_calls := {
	"collections.namedtuple()", "typing.NamedTuple()", "typing.TypedDict()",
}

# Attributes of modules that may be set to anything.
allowed_stores := {
	"mpmath.iv.dps", "mpmath.iv.prec", "mpmath.mp.dps", "mpmath.mp.prec", "mpmath.mp.pretty",
}

# Libraries that evaluate texts handed to them, by the beginning of the path: a pattern, since each
# call that carries a text is held against it.
evaluating_libraries := `^(?:mpmath|sympy)\.`

# Methods that evaluate texts, whatever they are called on.
evaluating_methods := {
	".as_poly", ".coeff", ".diff", ".equals", ".eval", ".evalf", ".integrate", ".limit", ".n", ".nseries", ".rewrite",
	".series", ".subs", ".xreplace",
}

# Names of their functions that exist to evaluate texts.
evaluators := {"S", "identify", "lambdify", "parse_expr", "sympify"}

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
# What the program uses. Where a list is met with a section, graph.reachable(section, list) gives
# the names of the list that stand in the section: each is looked up by itself, so the cost is the
# list's and no set of all that the program names is made. (Their places are no names: nothing is
# reached beyond, and if it were, more would be refused, not less.)
# ---------------------------------------------------------------------------

paths_used := object.keys(input.ast.paths)

values_used := object.keys(input.ast.values)

calls_used := object.keys(input.ast.calls)

kinds_used := object.keys(input.ast.kinds)

# ---------------------------------------------------------------------------
# Lists as they stand in the profile at hand: what profiles.yaml takes out of a list or puts
# into it.
# ---------------------------------------------------------------------------

changes := object.get(data.profiles[input.profile], "lists", {})

taken_out(list, name) if name in changes[list].remove

put_in(list, name) if name in changes[list].add
