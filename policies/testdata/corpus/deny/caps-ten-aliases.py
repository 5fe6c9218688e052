# expect: blocked-path 13
import math
import numpy as np
a = math.sin
a = math.cos
a = math.tan
a = math.asin
a = math.acos
a = math.atan
a = math.sinh
a = math.cosh
a = np
print(a.load('x'))
