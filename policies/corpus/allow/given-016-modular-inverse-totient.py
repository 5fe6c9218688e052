# profile: solve, tool
# topic: sympy number theory
# expect-stdout: 15 1 96
import sympy

n = 97
inverse = sympy.mod_inverse(13, n)
print(inverse, (inverse * 13) % n, sympy.totient(360))
