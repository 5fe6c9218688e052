# expect: blocked-name 4
import random
if 0:
    vars = 0
print(vars(random)['_'+'os'])
