# expect: blocked-attribute 6
import mpmath
class X:
    identify = 1
m = [mpmath.mp][0]
print(m.identify(3.0, ['x']))
