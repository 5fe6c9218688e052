# expect: blocked-dunder 4
# kind: attribute-walk
def f():
    global __builtins__
    __builtins__ = {}
