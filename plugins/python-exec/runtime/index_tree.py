"""The whole tree as JSON, for rules that ask for it."""

from _runtime.index_base import _encode, _SURROGATE, AST, TooLarge


def _constant_json(value):
    """Give a constant as JSON; what JSON cannot carry becomes {"_const", "value"}."""
    kind = value.__class__
    if value is None or kind is bool:
        return "null" if value is None else ("true" if value else "false")
    if kind is str:
        if _SURROGATE.search(value) is None:
            return _encode(value)
        return _encode({"_const": "str", "value": ascii(value)})
    if kind is int:
        if -(1 << 53) < value < (1 << 53):
            return str(value)
        return _encode({"_const": "int", "value": hex(value)})
    if kind is float and value - value == 0:
        return repr(value)
    if kind is bytes:
        return _encode({"_const": "bytes", "value": value.hex()})
    if value is Ellipsis:
        return '{"_const":"Ellipsis"}'
    return _encode({"_const": kind.__name__, "value": repr(value)})


def _tree_json(tree, place, max_bytes):
    """Write the whole tree as JSON, without recursion."""
    parts = []
    size = 0
    stack = [tree]
    while stack:
        item = stack.pop()
        if item.__class__ is str:
            parts.append(item)
            size += len(item)
            if size > max_bytes:
                raise TooLarge(f"more than {max_bytes} bytes")
            continue
        head = f'{{"_type":"{item.__class__.__name__}"'
        if "lineno" in item._attributes and hasattr(item, "lineno"):
            head += f',"loc":"{place(item)}"'
        later = []
        for field in item._fields:
            value = getattr(item, field, None)
            if value is None and field != "value":
                continue
            _field_json(field, value, item, later)
        stack.append("}")
        stack.extend(reversed(later))
        stack.append(head)
    return "".join(parts)


def _field_json(field, value, owner, later):
    if isinstance(value, AST):
        if not value._fields:
            later.append(f',"{field}":"{value.__class__.__name__}"')
            return
        later += (f',"{field}":', value)
    elif isinstance(value, list):
        later.append(f',"{field}":[')
        for index, item in enumerate(value):
            if index:
                later.append(",")
            if not isinstance(item, AST):
                later.append(_constant_json(item))
            elif item._fields:
                later.append(item)
            else:
                later.append(f'"{item.__class__.__name__}"')
        later.append("]")
    else:
        later.append(f',"{field}":{_constant_json(value)}')
