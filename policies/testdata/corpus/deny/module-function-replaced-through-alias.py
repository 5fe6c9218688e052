# expect: module-store 6
# kind: state-leak
import random

tool = random
tool.random = lambda: 0.5
print(random.random())
