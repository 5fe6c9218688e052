# expect: blocked-attribute 2
from numpy.polynomial.polynomial import np as q
print(q.load('x'))
