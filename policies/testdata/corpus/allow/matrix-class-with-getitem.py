# profile: solve
# topic: classes
class Matrix:
    def __init__(self, rows):
        self._rows = [list(r) for r in rows]

    @classmethod
    def identity(cls, n):
        return cls([[int(i == j) for j in range(n)] for i in range(n)])

    def __getitem__(self, key):
        i, j = key
        return self._rows[i][j]

    def __setitem__(self, key, value):
        i, j = key
        self._rows[i][j] = value

    def __matmul__(self, other):
        cols = list(zip(*other._rows))
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in cols] for r in self._rows])

    def __pow__(self, n):
        result = Matrix.identity(len(self._rows))
        for _ in range(n):
            result = result @ self
        return result

    def __neg__(self):
        return Matrix([[-v for v in r] for r in self._rows])

    def __bool__(self):
        return any(any(r) for r in self._rows)

    def __call__(self, f):
        return Matrix([[f(v) for v in r] for r in self._rows])

    def __str__(self):
        return "\n".join(" ".join(map(str, r)) for r in self._rows)


m = Matrix([[1, 1], [1, 0]]) ** 10
m[0, 0] += 1
print(m, m[0, 1], bool(-m), m(lambda v: v % 2)[1, 1])
