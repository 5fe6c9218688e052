"""How modules print: by their names, without the paths that they were loaded from."""

import _frozen_importlib


def install():
    """The interpreter asks for this function by its name each time that a module is printed."""
    _frozen_importlib._module_repr = _plain


def _plain(module):
    name = getattr(module, "__name__", "?")
    return "<module %r>" % (name if isinstance(name, str) else "?",)
