# expect: class-making 6
# kind: attribute-walk
class Meta(type(int)):
    pass

class Mine(int, metaclass=Meta):
    pass
