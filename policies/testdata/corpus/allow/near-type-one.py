# profile: solve, tool
print(type(1), type(1).__name__, isinstance(int, type), type(1) is int)
