# expect: blocked-keyword 4
from functools import wraps
def f(): pass
print(wraps(f, **{'assigned': ('x',)}))
