# profile: solve, tool
# topic: lambda
# expect-stdout: [('Mia', 34), ('Noor', 34), ('Ivo', 28)] [1, 9, 25]
people = [("Noor", 34), ("Ivo", 28), ("Mia", 34)]
by_age = sorted(people, key=lambda p: (-p[1], p[0]))
square = lambda v: v * v
print(by_age, list(map(square, filter(lambda v: v % 2, range(6)))))
