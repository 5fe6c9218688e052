# expect: class-making 2
class M(type(int)):
    pass
print(M('X', (), {}))
