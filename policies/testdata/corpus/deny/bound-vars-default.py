# expect: blocked-name 3
import random
def f(vars=vars(random)):
    return vars
print(f())
