# profile: solve, tool
# topic: near miss
# expect-stdout: True 3 4 5 15
import re
import sympy as sp

gap = sp.Interval.open(0, 1)
z = 3 + 4*sp.I
pattern = re.compile(r"(\d+)-(\d+)")
low, high = map(int, pattern.match("10-25").groups())
print(gap.contains(sp.Rational(1, 2)), sp.re(z), sp.im(z), abs(z), high - low)
