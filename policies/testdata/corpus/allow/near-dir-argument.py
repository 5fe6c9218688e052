# profile: solve, tool
def go(pos, dir):
    return pos + dir
print(go(1, 2))
