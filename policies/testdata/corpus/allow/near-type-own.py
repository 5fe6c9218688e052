# profile: solve, tool
def f(type):
    return type
type = 'circle'
print(f(type))
