# expect: module-store 5
# kind: state-leak
import math

print([0 for math.sqrt in [abs, len]])
print(math.sqrt([1, 2]))
