# profile: solve, tool
# topic: recursion
# expect-stdout: 15 ('A', 'B') ('B', 'C')
def hanoi(n, src="A", dst="C", via="B"):
    if n == 0:
        return []
    return hanoi(n - 1, src, via, dst) + [(src, dst)] + hanoi(n - 1, via, dst, src)

moves = hanoi(4)
print(len(moves), moves[0], moves[-1])
