# expect: blocked-attribute 6
class X:
    obj = 1
    def __enter__(self): return 1
    def __exit__(self, a, b, c):
        print(b.obj)
with X():
    1 .nope
