# expect: blocked-attribute 5, blocked-path 5
# kind: attribute-walk
import functools

@functools.singledispatch
def f(x):
    return x

@f.register
def _(x: "print('ran')"):
    return x
