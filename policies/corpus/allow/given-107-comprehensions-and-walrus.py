# profile: solve, tool
# topic: comprehensions
# expect-stdout: 55 [4, 16] [[0, 0, 0], [0, 1, 2], [0, 2, 4]]
squares = {n: n * n for n in range(1, 6)}
evens = {v for v in squares.values() if v % 2 == 0}
matrix = [[i * j for j in range(3)] for i in range(3)]
if (total := sum(squares.values())) > 50:
    print(total, sorted(evens), matrix)
