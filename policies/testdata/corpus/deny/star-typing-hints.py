# expect: blocked-path 4
from typing import *
if 0:
    get_type_hints = 1
print(get_type_hints(str))
