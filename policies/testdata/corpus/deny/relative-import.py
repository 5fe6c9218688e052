# expect: blocked-import 3
# kind: import
from . import secrets
from ..package import thing
