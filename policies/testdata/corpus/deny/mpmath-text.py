# expect: blocked-attribute 5, blocked-path 5
# kind: attribute-walk
import mpmath

print(mpmath.findpoly(1.5, 2), mpmath.identify(2.5, ["sqrt(2)"]))
