# expect: private-attribute 3
# kind: attribute-walk
print((lambda: 0).__globals__["__name__"])
