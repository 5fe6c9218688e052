# expect: blocked-attribute 3, private-attribute 3
# kind: attribute-walk
print(type(object()).mro()[0].__subclasses__())
