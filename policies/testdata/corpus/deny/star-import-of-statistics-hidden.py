# expect: blocked-import 3
# kind: import
from json import *

print(loads("1"))
