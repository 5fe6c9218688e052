"""What the index knows only after the walk: what names stand for, and what follows from it."""

from _runtime.index_base import (
    _BUILTINS, _clean, _DISPLAYS, _normalize, _parse_format, _parts_of, _split_field, _TEXTY,
    Attribute, Base, BinOp, Call, Constant, Dict, IfExp, JoinedStr, LINKS, Name, NamedExpr, PATH_CHARS,
    PATH_PARTS, PATH_ROOM, PATHS_PER_NAME, PLACES, Starred, TEXT_CHARS, TEXTS, TooLarge,
)
from _runtime.index_scopes import Scopes

# Calls that are entered even without keywords or texts: how many arguments they have is judged.
_COUNTED = frozenset({"functools.update_wrapper", "functools.wraps", "abc.ABCMeta", "enum.EnumMeta", "enum.EnumType"})


class Finish(Scopes):
    """Completes the sections that need the whole program."""

    def finish(self):
        self.follow()
        if self.aliases:
            self.resolve()
        self.find_firm()
        self.resolve_calls()
        self.resolve_unseen()
        self.resolve_templates()
        self.resolve_made()
        self.resolve_hidden()
        if "Match" in self.sections["kinds"]:
            # A data class's fields are what a pattern reads by position.
            for name, node in self.fields_declared:
                self.put("attributes", name, node)
        if "__doc__" in self.attributes or "__doc__" in self.names:
            for node in self.docstrings:
                self.text(node.value, node)
        if "print" in self.bindings:
            for node in self.printed.values():
                if node.value.__class__ is str:
                    self.text(node.value, node)
        if self.finals:
            self.sections["nesting"]["finally"] = _final_depth(self.finals)

    def follow(self):
        """Let names stand for what is assigned to them: imported things and texts."""
        texts = self.texts = {}
        links = []
        for name, value in self.assigned:
            kind = value.__class__
            if kind is Name:
                links.append((name, value.id, ()))
                if value.id == "type":
                    self.typers.add(name)
            elif kind is Attribute:
                parts, base = _parts_of(value)
                if base.__class__ is Name:
                    links.append((name, base.id, parts))
            elif kind is not Constant or value.value.__class__ is str:
                if kind in _TEXTY:
                    if kind is Constant:
                        self.literal[name] = self.literal.get(name, 0) + 1
                    found = texts.setdefault(name, [])
                    if len(found) <= TEXTS:
                        _texts_in(value, found, {})
        if not self.aliases or not links:
            return
        counts = self.linked
        for name, _, _ in links:
            counts[name] = counts.get(name, 0) + 1
        for _ in range(LINKS):
            if not self.follow_links(links):
                return
        raise TooLarge(f"names that stand for one another over more than {LINKS} lines")

    def follow_links(self, links):
        grown = False
        for name, base, parts in links:
            if base == name:
                continue
            for path in self.aliases.get(base, ()):
                longer = ".".join((path, *parts)) if parts else path
                paths = self.aliases.setdefault(name, [])
                # No list holds a path as long as that, and names may run in a circle.
                if longer in paths or longer.count(".") >= PATH_PARTS or len(longer) > PATH_CHARS:
                    continue
                if len(paths) >= PATHS_PER_NAME:
                    raise TooLarge(f"a name that stands for more than {PATHS_PER_NAME} things")
                paths.append(longer)
                grown = True
        return grown

    def resolve(self):
        aliases, names = self.aliases, self.names
        for base, parts, called, store in self.chains:
            for path in aliases.get(base, ()):
                full = path
                for part in parts:
                    full = f"{full}.{part.attr}"
                    self.path_room -= len(full)
                    self.put("paths", full, part)
                if self.path_room < 0:
                    raise TooLarge(f"more than {PATH_ROOM} characters of paths")
                if store is not None:
                    # A name that is bound to other things as well stands for those.
                    bound = self.sections["bound"].get(base, ("import",))
                    if self.linked.get(base, 0) < self.bindings.get(base, 0) and "import" not in bound:
                        continue
                    self.record("stores", full, {"at": self.place(parts[-1]), "value": store}, store)
                elif not called and id(parts[-1]) not in self.metaclasses:
                    self.put("values", full, parts[-1])
        for node in self.loose:
            if id(node) in self.metaclasses:
                continue
            for path in aliases.get(node.id, ()):
                self.put("values", path, node)
        paths = self.sections["paths"]
        for name, found in aliases.items():
            places = names.get(name)
            if places:
                for path in found:
                    if "." in path:
                        self.extend("paths", paths.setdefault(path, []), path, places)

    def extend(self, section, entries, key, places):
        room = PLACES - len(entries)
        entries.extend(places[:room])
        if len(places) > room:
            self.cut(section, key, len(places) - room)

    def resolve_calls(self):
        aliases, bound = self.aliases, self.sections["bound"]
        for node in self.called:
            func = node.func
            if func.__class__ is Name:
                name = func.id
                if name in aliases:
                    keys = aliases[name]
                elif name in self.typers and (len(node.args) > 1 or node.keywords or self.starred(node.args)):
                    keys = ("type",)
                elif self.stars and name not in bound and name not in _BUILTINS:
                    keys = (name,)
                else:
                    continue
            elif func.__class__ is Attribute:
                parts, base = _parts_of(func)
                if base.__class__ is Name and base.id in aliases:
                    keys = [".".join((path, *parts)) for path in aliases[base.id]]
                else:
                    keys = ("." + func.attr,)
            else:
                continue
            entry = self.call_entry(node)
            if "texts" not in entry and "keywords" not in entry and keys != ("type",):
                if not entry["args"] or not any(key in _COUNTED or key[-15:] == ".ndarray.resize" for key in keys):
                    continue
            shape = (
                entry["args"], tuple(entry.get("keywords", ())), tuple(entry.get("text", ())),
                tuple(entry.get("texts", ())), "cut" in entry,
            )
            for key in keys:
                self.record("calls", key, entry, shape)

    def resolve_unseen(self):
        """Enter methods that are taken as values, and type where it is, as called with anything."""
        for part in self.unseen:
            entry = {"at": self.place(part), "args": 0, "keywords": ["**"]}
            self.record("calls", "." + part.attr, entry, "value")
        if "print" not in self.bindings and not self.stars:
            for node in self.written:
                self.record("calls", "print", {"at": self.place(node), "args": 0, "keywords": ["file"]}, "file")
        if "type" in self.names and "firm" not in self.sections["bound"].get("type", ()):
            for node in self.loose:
                if node.id == "type" and id(node) not in self.harmless:
                    self.record("calls", "type", {"at": self.place(node), "args": 0}, "value")

    def starred(self, args):
        return any(arg.__class__ is Starred for arg in args)

    def call_entry(self, node):
        entry = {"at": self.place(node), "args": len(node.args)}
        texts = []
        indexes = []
        for index, arg in enumerate(node.args):
            if arg.__class__ in _TEXTY:
                before = len(texts)
                _texts_in(arg, texts, self.texts)
                if len(texts) > before:
                    indexes.append(index)
        keywords = []
        for keyword in node.keywords:
            keywords.append(keyword.arg or "**")
            if keyword.value.__class__ in _TEXTY:
                _texts_in(keyword.value, texts, self.texts)
        if keywords:
            entry["keywords"] = keywords
        if indexes:
            entry["text"] = indexes
        if texts:
            kept = [_clean(text[:TEXT_CHARS]) for text in texts[:TEXTS]]
            self.text_room -= sum(map(len, kept))
            if len(texts) > TEXTS or any(len(text) > TEXT_CHARS for text in texts) or self.text_room < 0:
                entry["cut"] = True
            entry["texts"] = kept if self.text_room >= 0 else []
        return entry

    def resolve_templates(self):
        for part, called in self.templates:
            receiver = part.value
            found = []
            sure = False
            if receiver.__class__ is Constant and receiver.value.__class__ is str:
                found, sure = [receiver.value], True
            elif receiver.__class__ is Name:
                if receiver.id == "str" and "str" not in self.sections["bound"]:
                    self.put("formats", "unbound", part)
                    continue
                found = self.texts.get(receiver.id, ())
                sure = self.literal.get(receiver.id, 0) >= self.bindings.get(receiver.id, 1)
            for template in found:
                self.fields(template, part, 0)
            if not sure:
                self.put("formats", "dynamic" if called else "value", part)

    def fields(self, template, node, level):
        try:
            for _, field, spec, _ in _parse_format(template):
                if field is not None:
                    for is_attribute, name in _split_field(field)[1]:
                        if is_attribute and name:
                            name = _normalize("NFKC", _clean(name))
                            self.put("attributes", name, node)
                            if name[0] == "_":
                                self.hide(name, node, "format")
                if spec and "{" in spec and level < 2:
                    self.fields(spec, node, level + 1)
        except ValueError:
            return

    def resolve_made(self):
        for section, core, node, name in self.made:
            if section == "decorators":
                self.put("decorators", self.dotted(core), node)
                continue
            entry = {"at": self.place(node), "bases": [name for base in node.bases for name in self.base(base)]}
            if node.keywords:
                entry["keywords"] = [keyword.arg or "**" for keyword in node.keywords]
                for keyword in node.keywords:
                    if keyword.arg == "metaclass":
                        names = self.all_dotted(keyword.value)
                        entry["metaclass"] = names[0] if len(names) == 1 else ""
            shape = (tuple(entry["bases"]), tuple(entry.get("keywords", ())), entry.get("metaclass"))
            self.record("classes", name, entry, shape)

    def dotted(self, node):
        """Give a name or attribute chain as text, imports followed; "" for anything else."""
        return self.all_dotted(node)[0]

    def all_dotted(self, node):
        """All that a name or attribute chain may stand for."""
        parts, base = _parts_of(node)
        if base.__class__ is not Name:
            return [""]
        return [".".join((root, *parts)) for root in self.aliases.get(base.id, (base.id,))]

    def base(self, node):
        """What a class is derived from: names, or a call's with its brackets."""
        if node.__class__ is Call:
            return [name + "()" for name in self.all_dotted(node.func)]
        return self.all_dotted(node)

    def resolve_hidden(self):
        for name, node, role, after, on, base, value in self.hidden:
            entry = {"at": self.place(node), "as": role}
            if base is not None and base in self.aliases:
                entry["on"] = self.aliases[base][0]
            elif on is not None:
                entry["on"] = on
            if after is not None:
                entry["next"] = after
            if value is not None:
                entry["value"] = value
            self.record("private", name, entry, (role, entry.get("on"), after, value))


def _texts_in(node, found, known):
    """Gather the texts that an argument holds, not those of calls inside it."""
    stack = [node]
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind is Constant:
            if node.value.__class__ is str:
                found.append(node.value)
        elif kind is Name:
            found.extend(known.get(node.id, ()))
        elif kind in _DISPLAYS:
            stack += [item for item in node.elts[::-1] if item.__class__ in _TEXTY]
        elif kind is JoinedStr:
            stack += node.values[::-1]
        elif kind is Dict:
            for key, value in zip(node.keys[::-1], node.values[::-1], strict=True):
                stack.append(value)
                if key is not None:
                    stack.append(key)
        elif kind is BinOp:
            stack += (node.right, node.left)
        elif kind is IfExp:
            stack += (node.orelse, node.body)
        elif kind is Starred or kind is NamedExpr:
            stack.append(node.value)
        if len(found) > TEXTS:
            return


def _final_depth(tries):
    """How deep try statements are nested in finally blocks."""
    known = {id(node) for node in tries}
    best = {}
    for node in reversed(tries):
        inside = 0
        stack = list(node.finalbody)
        while stack:
            child = stack.pop()
            if id(child) in known:
                inside = max(inside, best.get(id(child), 1))
                continue
            for field in ("body", "orelse", "handlers", "finalbody", "cases"):
                stack.extend(getattr(child, field, None) or ())
        best[id(node)] = inside + 1
    return max(best.values())
