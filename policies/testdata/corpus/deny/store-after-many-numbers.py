# expect: module-store 24
# kind: state-leak
import math
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.pi = 3
math.sqrt = abs
