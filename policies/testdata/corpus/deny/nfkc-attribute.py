# expect: blocked-attribute 6
# kind: attribute-walk
def g():
    yield 1

print(g().ｇi_frame)
