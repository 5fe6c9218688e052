# expect: blocked-name 3
import random
vars = 1
del vars
print(vars(random))
