"""How the index enters expressions, patterns and type parameters."""

from _runtime.index_base import (
    _clean, _Inner, _normalize, _WORD, Attribute, Base, BIG_INTEGER_BITS, BinOp, Constant,
    JoinedStr, Load, Name, STRING_CHARS, Tuple,
)

_TAKE_TYPE = frozenset({"isinstance", "issubclass", "map", "print"})


class Expressions(Base):
    """Visitors give the nodes to visit next, the last one first."""

    def name(self, node):
        if not self.use(node):
            self.loose.append(node)

    def attribute(self, node):
        return self.chain(node, 0, store=None if node.ctx.__class__ is Load else "other")

    def inner(self, node):
        if node.levels <= 1:
            return [node.base]
        node.levels -= 1
        return [_Inner(node.levels, node.base)]

    def constant(self, node):
        value = node.value
        kind = value.__class__
        if kind is str:
            if len(value) > 2 and id(node) not in self.printed:
                self.text(value, node)
        elif kind is int:
            if value.bit_length() > BIG_INTEGER_BITS:
                self.put("integers", str(value.bit_length()), node)
        elif kind is bytes and len(value) > 2:
            self.text(value.decode("latin-1"), node)

    def text(self, value, node):
        if not value.isascii():
            value = _normalize("NFKC", _clean(value))
        if "__" in value:
            self.put("strings", value[:STRING_CHARS], node)
        elif "(" not in value and "." not in value:
            return
        for word in _WORD.findall(value):
            self.put("words", word, node)

    def call(self, node):
        self.called.append(node)
        func = node.func
        kids = []
        if node.keywords:
            kids.extend(node.keywords)
            kids.reverse()
        if node.args:
            kids += node.args[::-1]
        if func.__class__ is Name:
            self.use(func)
            self.nodes += 1
            if func.id == "print":
                self.print_call(node)
            elif func.id in _TAKE_TYPE:
                self.type_taken(node)
            if len(self.frames) + 2 > self.depth:
                self.depth = len(self.frames) + 2
        elif func.__class__ is Attribute:
            rest = self.chain(func, 1, called=True)
            if rest:
                kids += rest
        else:
            kids.append(func)
        return kids

    def type_taken(self, node):
        """Remember where type is handed to what makes no class of it."""
        if node.func.id == "map" and len(node.args) != 2:
            return
        for arg in node.args:
            for item in arg.elts if arg.__class__ is Tuple else (arg,):
                if item.__class__ is Name:
                    self.harmless.add(id(item))

    def print_call(self, node):
        """Remember the texts that a call of print does nothing with but write, and where to."""
        for keyword in node.keywords:
            if keyword.arg == "file" and keyword.value.__class__ is Attribute:
                self.written.append(keyword.value)
        if any(keyword.arg in (None, "file") for keyword in node.keywords):
            return
        stack = list(node.args)
        while stack:
            arg = stack.pop()
            kind = arg.__class__
            if kind is Constant:
                self.printed[id(arg)] = arg
            elif kind is JoinedStr:
                stack += arg.values
            elif kind is BinOp:
                stack += (arg.left, arg.right)

    def keyword(self, node):
        if node.arg is not None:
            self.put("identifiers", node.arg, node)
            if node.arg[0] == "_":
                self.hide(node.arg, node, "keyword")
        return [node.value]

    def binary(self, node):
        return [node.right, node.left]

    def unary(self, node):
        return [node.operand]

    def values(self, node):
        return node.values[::-1]

    def elements(self, node):
        return node.elts[::-1]

    def dictionary(self, node):
        kids = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                kids.append(key)
            kids.append(value)
        kids.reverse()
        return kids

    def compare(self, node):
        kids = node.comparators[::-1]
        kids.append(node.left)
        for kid in kids:
            if kid.__class__ is Name:
                self.harmless.add(id(kid))
        return kids

    def subscript(self, node):
        return [node.slice, node.value]

    def slice(self, node):
        return [part for part in (node.step, node.upper, node.lower) if part is not None]

    def conditional(self, node):
        return [node.orelse, node.body, node.test]

    def single(self, node):
        return [node.value]

    def formatted(self, node):
        return [node.value] if node.format_spec is None else [node.format_spec, node.value]

    def named_expression(self, node):
        self.put("kinds", "NamedExpr", node)
        self.assigned.append((node.target.id, node.value))
        return [node.value, node.target]

    def waiting(self, node):
        self.put("kinds", node.__class__.__name__, node)
        return [node.value] if node.value is not None else None

    def function_expression(self, node):
        self.put("kinds", "Lambda", node)
        return [node.body, node.args]

    def comprehension_of(self, node):
        self.put("kinds", node.__class__.__name__, node)
        kids = node.generators[::-1]
        kids.append(node.elt)
        return kids

    def dictionary_comprehension(self, node):
        self.put("kinds", "DictComp", node)
        kids = node.generators[::-1]
        kids += (node.value, node.key)
        return kids

    def comprehension(self, node):
        if node.is_async:
            self.put("kinds", "AsyncComprehension", node.target)
        self.loop(node.target, node.iter)
        kids = node.ifs[::-1]
        kids += (node.iter, node.target)
        return kids

    # -- patterns ------------------------------------------------------------

    def match_statement(self, node):
        self.put("kinds", "Match", node)
        kids = node.cases[::-1]
        kids.append(node.subject)
        return kids

    def match_case(self, node):
        kids = node.body[::-1]
        if node.guard is not None:
            kids.append(node.guard)
        kids.append(node.pattern)
        return kids

    def match_singleton(self, node):
        return None

    def patterns(self, node):
        return node.patterns[::-1]

    def match_mapping(self, node):
        if node.rest is not None:
            self.identifier(node.rest, node, "bind", "match")
        kids = node.patterns[::-1]
        kids += node.keys[::-1]
        return kids

    def match_class(self, node):
        for attr in node.kwd_attrs:
            self.put("attributes", attr, node)
            if attr[0] == "_":
                self.hide(attr, node, "pattern")
        kids = node.kwd_patterns[::-1]
        kids += node.patterns[::-1]
        kids.append(node.cls)
        return kids

    def match_star(self, node):
        if node.name is not None:
            self.identifier(node.name, node, "bind", "match")

    def match_as(self, node):
        if node.name is not None:
            self.identifier(node.name, node, "bind", "match")
        return [node.pattern] if node.pattern is not None else None

    # -- newer grammars ------------------------------------------------------

    def type_alias(self, node):
        self.put("kinds", "TypeAlias", node)
        kids = [node.value]
        kids += node.type_params[::-1]
        kids.append(node.name)
        return kids

    def type_parameter(self, node):
        self.identifier(node.name, node, "bind", "type")
        parts = (getattr(node, "default_value", None), getattr(node, "bound", None))
        return [part for part in parts if part is not None]
