# expect: class-making 5
# kind: attribute-walk
options = {"metaclass": type}

class Table(**options):
    pass
