# profile: solve, tool
# topic: sympy printing
# expect-stdout-sha256: 624a0b06a83317315f10efc30470c44b60c758db291b03a193c28e5ef4a750aa
import sympy as sp

a, b = sp.symbols("a b")
print(sp.pretty(a/b, use_unicode=False))
