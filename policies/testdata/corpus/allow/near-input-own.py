# profile: solve, tool
def f(input):
    return [v for v in input]
print(f([1]))
