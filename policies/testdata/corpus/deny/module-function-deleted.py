# expect: module-store 5
# kind: state-leak
import math

del math.sqrt
