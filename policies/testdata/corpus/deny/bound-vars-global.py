# expect: blocked-name 5
import random
def f():
    global vars
    vars = 1
print(vars(random))
