# profile: solve
# topic: classes
class Bag:
    def __init__(self, items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)


lessons = {"__len__": "how many", "__iter__": "one by one", "__call__": "use as a function"}
for name, meaning in lessons.items():
    print(name, meaning, hasattr(Bag, name), hasattr([], "__iter__"))
print(Bag("ab").__len__(), (3).__add__(4), "abc".__contains__("b"), [1, 2].__getitem__(0), Bag.__name__)
