# expect: blocked-name 3
import random
vars = 1
try:
    1 / 0
except ZeroDivisionError as vars:
    pass
print(vars(random))
