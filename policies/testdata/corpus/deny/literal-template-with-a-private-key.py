# expect: private-attribute 6
# kind: attribute-walk
class A:
    pass

print("{0.__init__.__globals__[x]}".format(A()))
