# expect: class-making 2
print(list(map(type, ['X'], [()], [{}])))
