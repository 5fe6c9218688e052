# profile: solve, tool
# topic: sympy number theory
# expect-stdout: x = 23 (mod 105)
from sympy.ntheory.modular import crt

moduli = [3, 5, 7]
residues = [2, 3, 2]
answer, modulus = crt(moduli, residues)
print(f"x = {answer} (mod {modulus})")
