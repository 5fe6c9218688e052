# expect: blocked-dunder 3
# kind: attribute-walk
print(__builtins__)
