# profile: solve, tool
for dir in [(0, 1), (1, 0)]:
    print(dir)
