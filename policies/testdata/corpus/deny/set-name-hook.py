# expect: blocked-dunder 4
# kind: attribute-walk
class Hook:
    def __set_name__(self, owner, name):
        print(owner, name)
