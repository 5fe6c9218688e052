# profile: solve, tool
# topic: sympy number theory
# expect-stdout: {2: 4, 3: 2, 5: 1, 7: 1}
import sympy as sp
print(sp.factorint(5040))
