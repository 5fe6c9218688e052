# expect: blocked-attribute 6, private-attribute 6
# kind: attribute-walk
def f():
    return 1

print(f.__code__.co_consts)
