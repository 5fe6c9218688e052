# expect: blocked-name 4
import random
f = lambda vars: 0
print(vars(random))
