# expect: private-attribute 5
# kind: attribute-walk
class Reader:
    def read(self, name):
        return super().__getattribute__(name)

print(Reader().read("x"))
