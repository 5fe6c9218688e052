# expect: blocked-keyword 5
from functools import *
u = 'x'
def f(): pass
print(update_wrapper(f, f, (u,)))
