# expect: dunder-in-text 3, private-attribute 3
# kind: attribute-walk
print((lambda: 0).__globals__["__name__"])
