# expect: blocked-name 5
import random
def f(dir):
    return 1
print(dir(random))
