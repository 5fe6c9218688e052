# profile: solve, tool
# topic: recursion
# expect-stdout: [1, 0, 0, 2, 10, 4]
def solve_queens(n, row=0, cols=(), diag1=(), diag2=()):
    if row == n:
        return 1
    count = 0
    for c in range(n):
        if c not in cols and row + c not in diag1 and row - c not in diag2:
            count += solve_queens(n, row + 1, cols + (c,), diag1 + (row + c,), diag2 + (row - c,))
    return count

print([solve_queens(n) for n in range(1, 7)])
