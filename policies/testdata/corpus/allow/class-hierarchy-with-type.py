# profile: solve
# topic: classes
class Base:
    kinds = []

    def __init_sub(self):
        return 1

    def name(self):
        return type(self).__name__

    def copy(self):
        return type(self)()


class Leaf(Base):
    pass


print(Leaf().name(), type(Leaf()) is Leaf, isinstance(Leaf().copy(), Base), issubclass(Leaf, Base), list(map(type, [1, "a"])) == [int, str])
