"""The pyast/1 dump: what the policy sees of a Python program.

``dump`` turns a parsed module into the plugin's part of the policy's input
document: an index keyed by identifier and dotted path, and on request the whole
tree. The policy's JSON Schema (policies/schemas/pyast-1.json) describes every
section.

The walk keeps its own stack, so that no tree which CPython could parse exhausts
the interpreter's. Nothing is imported when a program is dumped: whatever the
dump needs is bound when these modules are loaded, before any submitted code can
run. They must never evaluate, compile or import what they describe.

Begin with ``dump``. index_base has the bounds and the walk, index_expressions
and index_statements enter the nodes, index_finish what is known only after the
walk, index_tree writes the whole tree.
"""

import ast

from _runtime.index_base import (
    GRAMMAR, MAX_BYTES, MAX_NODES, RARE, SCHEMA, SECTIONS, TooLarge, _BIDI, _COOKIE, _Inner,
    _encode, _sha256,
)
from _runtime.index_expressions import Expressions
from _runtime.index_statements import Statements
from _runtime.index_finish import Finish
from _runtime.index_tree import _tree_json


class _Index(Expressions, Statements, Finish):
    """One walk over one tree."""


def _handlers():
    one = _Index
    table = {
        "Module": one.module, "Expression": lambda self, node: [node.body], "Interactive": one.module,
        "Name": one.name, "Attribute": one.attribute, "Constant": one.constant, "Call": one.call,
        "keyword": one.keyword, "BinOp": one.binary, "UnaryOp": one.unary, "BoolOp": one.values,
        "List": one.elements, "Tuple": one.elements, "Set": one.elements, "Dict": one.dictionary,
        "Compare": one.compare, "Subscript": one.subscript, "Slice": one.slice, "IfExp": one.conditional,
        "Starred": one.single, "JoinedStr": one.values, "FormattedValue": one.formatted,
        "NamedExpr": one.named_expression, "Await": one.waiting, "Yield": one.waiting,
        "YieldFrom": one.waiting, "Lambda": one.function_expression, "ListComp": one.comprehension_of,
        "SetComp": one.comprehension_of, "GeneratorExp": one.comprehension_of,
        "DictComp": one.dictionary_comprehension, "comprehension": one.comprehension,
        "Expr": one.expression, "Assign": one.assign, "AugAssign": one.augmented,
        "AnnAssign": one.annotated, "Return": one.optional, "Delete": one.delete, "Raise": one.raising,
        "Assert": one.asserting, "Pass": one.bare, "Break": one.bare, "Continue": one.bare,
        "If": one.branch, "While": one.branch, "For": one.loop_statement, "AsyncFor": one.loop_statement,
        "Try": one.attempt, "TryStar": one.attempt, "ExceptHandler": one.handler,
        "With": one.with_statement, "AsyncWith": one.with_statement, "withitem": one.with_item,
        "Global": one.declaration, "Nonlocal": one.declaration, "FunctionDef": one.definition,
        "AsyncFunctionDef": one.definition, "ClassDef": one.class_statement, "arguments": one.arguments,
        "arg": one.argument, "Import": one.imports, "ImportFrom": one.imports_from, "alias": one.alias,
        "Match": one.match_statement, "match_case": one.match_case, "MatchValue": one.single,
        "MatchSingleton": one.match_singleton, "MatchSequence": one.patterns, "MatchOr": one.patterns,
        "MatchMapping": one.match_mapping, "MatchClass": one.match_class, "MatchStar": one.match_star,
        "MatchAs": one.match_as, "TypeAlias": one.type_alias, "TypeVar": one.type_parameter,
        "ParamSpec": one.type_parameter, "TypeVarTuple": one.type_parameter,
        "TemplateStr": one.template, "Interpolation": one.formatted,
    }
    found = {getattr(ast, name): handler for name, handler in table.items() if hasattr(ast, name)}
    found[_Inner] = one.inner
    return found


_HANDLERS = _handlers()
_Index.handlers = _HANDLERS


def _source_facts(text, facts):
    for name, pattern in (("bidi", _BIDI),):
        if not text.isascii():
            match = pattern.search(text)
            if match is not None:
                facts[name] = [_place_of(text, match.start())]
    if "coding" in text[:400]:
        for number, line in enumerate(text.split("\n", 2)[:2], 1):
            match = _COOKIE.match(line)
            if match is not None:
                facts["coding:" + match.group(1).lower().replace("_", "-")] = [f"{number}:0:{number}:{len(line)}"]
                return


def _place_of(text, offset):
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1)
    return f"{line}:{column}:{line}:{column + 1}"


def dump(
    tree, text, sections=None, *, code=None, known=None, aliases=None, max_nodes=MAX_NODES, max_bytes=MAX_BYTES
):
    """Give the document of a parsed module: (UTF-8 JSON, nodes, depth).

    ``text`` is the text that was parsed; ``code`` its bytes as submitted, when they
    differ from its UTF-8 form. ``sections`` names the parts wanted; None: all.
    ``known`` says what names stand for from earlier cells of a session: a section
    "aliases" of those, or several merged. ``aliases`` is a dictionary that receives
    that section, known names included, whether it is wanted or not.
    Nodes are counted without contexts and operators. Raises TooLarge.
    """
    index = _Index(text, known or {})
    index.walk(tree, max_nodes)
    index.finish()
    _source_facts(text, index.sections["source"])
    index.sections["aliases"].update(index.aliases)
    if index.stars:
        index.sections["aliases"]["*"] = index.stars
    if aliases is not None:
        aliases.update(index.sections["aliases"])
    found = index.sections["found"]
    for name in RARE:
        if index.sections[name]:
            found[name] = True
    if index.stars:
        found["star"] = True
    wanted = index.sections if sections is None else {
        name: index.sections[name] for name in SECTIONS if name in sections and name != "tree"
    }
    wanted["truncated"] = index.sections["truncated"]
    raw = text.encode("utf-8", "surrogatepass") if code is None else code
    head = _encode({
        "schema": SCHEMA, "language": "python", "grammar": GRAMMAR,
        "code": {
            "sha256": _sha256(raw).hexdigest(), "bytes": len(raw),
            "lines": text.count("\n") + (not text.endswith("\n") and bool(text)),
            "nodes": index.nodes, "depth": index.depth,
        },
        "ast": wanted,
    })
    if sections is None or "tree" in sections:
        head = f'{head[:-2]},"tree":{_tree_json(tree, index.place, max_bytes)}}}}}'
    document = head.encode("utf-8")
    if len(document) > max_bytes:
        raise TooLarge(f"more than {max_bytes} bytes")
    return document, index.nodes, index.depth
