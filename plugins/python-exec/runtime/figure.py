"""Finds the program's figure and writes it as plain JSON.

Plotly writes NumPy arrays as base64, which older plotly.js cannot read, and
NaN as NaN, which is no JSON: here arrays are lists and both are null.
"""

import ast
import base64
import datetime
import decimal
import json
import math
import numbers
import sys

MOST_DEPTH = 200
LARGEST = int(sys.float_info.max)

# Bound before any program runs: it may replace json.dumps.
_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode


class Shown:
    """The last figure that the program showed, as it was then."""

    def __init__(self):
        self.data = None
        self.error = None

    def keep(self, figure):
        try:
            self.data, self.error = encode(figure), None
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
                raise
            self.data, self.error = None, error


def install(shown):
    """Makes show() mark its figure and print nothing."""
    import plotly.basedatatypes
    import plotly.io
    import plotly.io._renderers

    genuine = plotly.basedatatypes.BaseFigure

    def show(fig, *args, **kwargs):
        if isinstance(fig, dict):
            import plotly.graph_objects

            fig = plotly.graph_objects.Figure(fig)
        if not isinstance(fig, genuine):
            raise ValueError("show() takes a Figure, not %s" % type(fig).__name__)
        shown.keep(fig)

    for place in (plotly.io, plotly.io._renderers):
        place.show = show
    genuine.show = show


def choose(shown, value, tree, namespace):
    """The figure's JSON, or None: shown last, else the value, else bound last."""
    names = dict.fromkeys(bound(tree))
    names.update(dict.fromkeys(name for name in reversed(list(namespace)) if isinstance(name, str)))
    return pick(shown, value, names, namespace)


def pick(shown, value, names, namespace):
    """As choose, with the names to look at, the one bound last first."""
    import plotly.basedatatypes

    if shown.data is not None:
        return shown.data
    if shown.error is not None:
        raise shown.error
    genuine = plotly.basedatatypes.BaseFigure
    if isinstance(value, genuine):
        return encode(value)
    for name in names:
        if isinstance(namespace.get(name), genuine):
            return encode(namespace[name])
    return None


def bound(tree):
    """Module-level names, the one bound last in the text first."""
    places = []
    todo = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            places.append((node.lineno, node.col_offset, node.id))
        todo.extend(ast.iter_child_nodes(node))
    seen = {}
    for _, _, name in sorted(places, reverse=True):
        seen.setdefault(name)
    return list(seen)


def encode(figure):
    """The figure as compact UTF-8 JSON."""
    whole = {"data": figure._data, "layout": figure._layout}
    frames = [frame._props for frame in figure._frame_objs]
    if frames:
        whole["frames"] = frames
    return _encode(_plain(whole, 0)).encode("utf-8", "replace")


def _plain(value, depth):
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        return value if abs(value) <= LARGEST else None  # as infinity: no reader's number holds more
    if kind is float:
        return value if math.isfinite(value) else None
    if depth > MOST_DEPTH:
        raise ValueError("the figure is nested too deeply")
    if kind is list or kind is tuple:
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, dict):
        if value.keys() >= {"bdata", "dtype"}:
            return _plain(_array(value), depth + 1)
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    return _special(value, depth)


def _array(value):
    """A typed array as Plotly writes it, back to numbers."""
    import numpy

    data = value["bdata"]
    data = base64.b64decode(data) if isinstance(data, str) else bytes(data)
    array = numpy.frombuffer(data, dtype=numpy.dtype(str(value["dtype"])))
    shape = value.get("shape")
    if shape is not None:
        sides = shape.split(",") if isinstance(shape, str) else shape
        array = array.reshape([int(side) for side in sides])
    return array


def _special(value, depth):
    """What JSON has no word for: arrays, dates, numbers of other libraries."""
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, decimal.Decimal):
        return _plain(float(value), depth)
    if isinstance(value, numbers.Integral):
        return _plain(int(value), depth)
    if hasattr(value, "to_plotly_json"):
        return _plain(value.to_plotly_json(), depth + 1)
    if hasattr(value, "tolist"):
        if getattr(getattr(value, "dtype", None), "kind", "") in ("M", "m"):
            return _plain(value.astype(str).tolist(), depth + 1)
        return _plain(value.tolist(), depth + 1)
    if isinstance(value, (set, frozenset, range)) or hasattr(value, "__iter__"):
        return [_plain(item, depth + 1) for item in value]
    try:
        return _plain(float(value), depth)
    except (TypeError, ValueError, OverflowError):
        return str(value)
