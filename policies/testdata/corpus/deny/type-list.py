# expect: class-making 2
print([type][0]('X', (), {}))
