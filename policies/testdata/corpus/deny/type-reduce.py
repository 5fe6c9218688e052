# expect: class-making 3
import functools
print(functools.partial(type, 'X')((), {}))
