# profile: solve, tool
# topic: main guard
# expect-stdout: x**3 + 3*x**2 + 3*x + 1
import sympy as sp

def main():
    x = sp.symbols("x")
    expr = sp.expand((x + 1)**3)
    print(expr)

if __name__ == "__main__":
    main()
