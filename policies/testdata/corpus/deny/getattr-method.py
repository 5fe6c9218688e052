# expect: blocked-dunder 4
# kind: attribute-walk
class Proxy:
    def __getattr__(self, name):
        return print

print(Proxy().anything)
