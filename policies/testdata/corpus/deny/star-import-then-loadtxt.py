# expect: blocked-path 5
# kind: fs-read
from numpy import *

print(loadtxt("/etc/hostname", dtype=str))
