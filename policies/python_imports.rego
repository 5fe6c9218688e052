# What Python programs import, and what the verdict grants them to import. The lists stand in allowlist.rego.
package rules.python

# METADATA
# title: Import of a blocked module
# description: Only the listed modules may be imported, each by its exact name.
# custom:
#   id: blocked-import
#   hint: "Use sympy, numpy, mpmath, plotly or the standard modules for mathematics and text; there are no files, processes or network."
#   hints:
#     ast: "Read data by json.loads, or write the value out in the program."
#     asyncio: "Call the functions one after the other; a program has one thread."
#     concurrent: "Call the functions one after the other; a program has one process."
#     concurrent.futures: "Call the functions one after the other; a program has one thread."
#     contextlib: "Write try/finally, or a class with __enter__ and __exit__."
#     csv: "Split the lines of a text in the program: line.split(',')."
#     dataclasses: "Use collections.namedtuple, or a dict."
#     datetime: "Use numpy.datetime64 and differences of it, or count the days by hand."
#     enum: "Use plain constants, or a dict from names to values."
#     io: "There are no files: keep text in a text or list in the program."
#     logging: "Print what should be told: print(...)."
#     multiprocessing: "Call the functions one after the other; a program has one process."
#     os: "Leave it out: there are no files, no environment and no processes; print results."
#     os.path: "Leave it out: there are no files; join texts by their join method."
#     pathlib: "There are no files: write the data as a text or list in the program, and print results."
#     pickle: "Print results, or write them by json.dumps."
#     plotly.io: "Call fig.show() without arguments, or leave the figure as the last expression."
#     requests: "There is no network: write the data into the program."
#     subprocess: "There are no other programs: compute it in Python."
#     sympy.core.numbers: "These are in sympy itself: sympy.S.Zero, sympy.Integer, sympy.Rational, sympy.pi."
#     sympy.plotting: "Make the figure with plotly.graph_objects from values at points of numpy.linspace, by sympy.lambdify."
#     sys: "Leave it out: write with print(), and let the program come to its end."
#     tempfile: "There are no files: keep data in variables."
#     threading: "Call the functions one after the other; a program has one thread."
#     time: "Leave it out: times of this machine say little; nothing has to be waited for."
#     traceback: "Print the exception: print(type(e).__name__, e); what nothing catches is told with its lines."
#     urllib.request: "There is no network: write the data into the program."
#     warnings: "Leave it out: warnings do not end a program; print what should be told."
#   covers: [blocked-path, blocked-attribute]
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
# title: Import of a module that is not there for programs
# description: The module is not refused; it is not installed, or a library has it for itself.
# custom:
#   id: missing-import
#   hint: "Write it with numpy, sympy or mpmath, or in plain Python."
#   hints:
#     matplotlib: "Make the figure with Plotly: import plotly.graph_objects as go; go.Figure(go.Scatter(x=x, y=y)).show(); a histogram: plotly.express.histogram(x=x).show()"
#     matplotlib.pyplot: "Make the figure with Plotly: import plotly.graph_objects as go; go.Figure(go.Scatter(x=x, y=y)).show(); a histogram: plotly.express.histogram(x=x).show()"
#     networkx: "Keep the graph as a dict of lists; shortest paths by heapq, breadth first by collections.deque."
#     numba: "Leave the decorator out; for speed write the loop as numpy arrays."
#     pandas: "A table is a list or dict of columns, or a NumPy array; plotly.express takes those as they are."
#     scipy: "Integrals: mpmath.quad; roots: mpmath.findroot; linear algebra: numpy.linalg; distributions: statistics.NormalDist or sympy.stats; counting: math.comb."
#     scipy.integrate: "Integrals: mpmath.quad(f, [a, b]); differential equations: sympy.dsolve, or a loop of Runge-Kutta steps."
#     scipy.interpolate: "numpy.interp, numpy.polyfit with numpy.polyval, or sympy.interpolate."
#     scipy.linalg: "numpy.linalg has solve, inv, det, eig, svd and qr; sympy.Matrix has exp."
#     scipy.optimize: "Roots: mpmath.findroot(f, start) or sympy.nsolve; least squares: numpy.linalg.lstsq or numpy.polyfit; minima: a loop of Newton steps."
#     scipy.special: "math.comb, math.gamma, math.erf; mpmath has the special functions."
#     scipy.stats: "statistics.NormalDist (cdf, inv_cdf), sympy.stats, or numpy.random.default_rng."
#     seaborn: "Make the figure with plotly.express or plotly.graph_objects."
#     sklearn: "Least squares: numpy.linalg.lstsq or numpy.polyfit; other methods are short in numpy."
#     tabulate: "Print the rows: print(f'{name:8} {value:8}')."
#     tensorflow: "Write the computation with numpy."
#     torch: "Write the computation with numpy."
#     tqdm: "Loop without it: for i in range(n)."
#   url: policies/README.md#missing-import
deny contains {"rule": "missing-import", "msg": msg, "at": entry.at, "subject": module} if {
	some module in refused_modules
	root := root_of(module)
	absent(root)
	some entry in input.ast.imports[root]
	entry.module == module
	present := {name | some name in available_modules; not taken_out("allowed_imports", name)}
	msg := sprintf("%s is %s; available: %s", [root, absence(root), concat(", ", present)])
}

absence(root) := "not available to programs" if root in withheld_modules

absence(root) := "not installed here" if not root in withheld_modules

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

absent(root) if {
	root in withheld_modules
	not taken_out("withheld_modules", root)
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
#   hints:
#     sys.argv: "Write the values into the program; there is no command line."
#     sys.path: "Leave it out: the modules that may be imported are there."
#     sys.stderr: "Write with print()."
#     sys.stdin: "Write the values into the program; there is no input under this policy."
#     sys.stdin.read: "Write the values into the program; there is no input under this policy."
#     sys.stdin.readline: "Write the values into the program; there is no input under this policy."
#   url: policies/README.md#partial-module
deny contains {"rule": "partial-module", "msg": msg, "at": at, "subject": path} if {
	some module in partials_in_use
	some path, places in input.ast.paths
	startswith(path, concat("", [module, "."]))
	not open_name(path)
	not begins_open_name(path)
	some at in places
	not printed_to(path, at)
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
	not printed_to(path, at)
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

# print(…, file=sys.stderr), where print is the builtin and all places are known.
printed_to(path, at) if {
	path in {"sys.stderr", "sys.stdout"}
	not input.session
	not input.ast.truncated.paths[path]
	some entry in input.ast.calls.print
	entry.at == at
}

partials_in_use contains module if {
	some module in graph.reachable(input.ast.paths, partial_modules)
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
# What the program may import at run time: what it names, and in a session,
# where functions of earlier cells may import, all that is allowed.
# ---------------------------------------------------------------------------

grants contains concat(":", ["import", module]) if some module in usable_modules

grants contains concat(":", ["import", module]) if {
	input.session
	some module in listed_modules
}

# ---------------------------------------------------------------------------
# What may be imported under the profile at hand, for GET /v1/policy.
# ---------------------------------------------------------------------------

importable contains module if some module in listed_modules

listed_modules := (allowed_imports | partial_modules) - {module |
	some list in {"allowed_imports", "partial_modules"}
	some module in changes[list].remove
}

importable contains module if some module in changes.allowed_imports.add

importable contains module if some module in changes.partial_modules.add
