# profile: solve, tool
# topic: algorithms
import math


def newton(f, df, x0, tol=1e-12, max_iter=50):
    x = x0
    for _ in range(max_iter):
        step = f(x) / df(x)
        x -= step
        if abs(step) < tol:
            return x
    raise RuntimeError("did not converge")


def rk4(f, y, t, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h * k1 / 2)
    k3 = f(t + h / 2, y + h * k2 / 2)
    k4 = f(t + h, y + h * k3)
    return y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6


y, t = 1.0, 0.0
for _ in range(100):
    y = rk4(lambda t, y: -y, y, t, 0.01)
    t += 0.01
print(round(newton(lambda x: x * x - 2, lambda x: 2 * x, 1.0), 10), round(y, 8), math.isclose(y, math.exp(-1), rel_tol=1e-8))
