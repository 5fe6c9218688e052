# profile: solve, tool
# topic: mpmath
# expect-stdout-sha256: 2c6607a84a048f5c1976933b9483fe2af4338b7836866d97a1662cb48242b0a8
from mpmath import mp, mpf, sqrt, pi

mp.dps = 40
golden = (1 + sqrt(mpf(5))) / 2
print(mp.nstr(golden, 30))
print(mp.nstr(pi, 25))
