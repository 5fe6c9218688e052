# expect: blocked-attribute 3, blocked-path 3
# kind: attribute-walk
from typing import get_type_hints, ForwardRef

def f(x: "print('ran')"):
    return x

print(get_type_hints(f), ForwardRef("print(1)"))
