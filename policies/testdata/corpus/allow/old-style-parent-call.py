# profile: solve
# topic: classes
class Animal:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name


class Dog(Animal):
    def __init__(self, name, tricks=()):
        Animal.__init__(self, name)
        self.__tricks = list(tricks)

    def __str__(self):
        return super().__str__() + f" knows {len(self.__tricks)}"

    def __len__(self):
        return len(self.__tricks)


print(Dog("Rex", ["sit"]), len(Dog("Ace")))
