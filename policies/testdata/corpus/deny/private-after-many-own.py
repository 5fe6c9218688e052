# expect: private-attribute 29
# kind: attribute-walk
import random

class A:
    _r = 1

a = A()
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(a._r)
print(random._r)
