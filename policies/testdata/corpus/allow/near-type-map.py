# profile: solve, tool
print(list(map(type, [1, 2.0])))
