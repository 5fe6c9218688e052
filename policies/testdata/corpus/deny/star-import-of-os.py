# expect: blocked-import 3
# kind: import
from os import *

print(listdir("/"))
