# profile: solve
# topic: classes
# expect-stdout: Polynomial([1, 2, 1]) 16
class Polynomial:
    def __init__(self, coeffs):
        self.coeffs = list(coeffs)

    def __call__(self, x):
        result = 0
        for c in reversed(self.coeffs):
            result = result * x + c
        return result

    def __mul__(self, other):
        out = [0] * (len(self.coeffs) + len(other.coeffs) - 1)
        for i, a in enumerate(self.coeffs):
            for j, b in enumerate(other.coeffs):
                out[i + j] += a * b
        return Polynomial(out)

    def __repr__(self):
        return f"{self.__class__.__name__}({self.coeffs})"

p = Polynomial([1, 1])
print(p * p, (p * p)(3))
