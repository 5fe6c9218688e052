# expect: blocked-path 4
from numpy import *
if 0:
    load = 1
load('x', allow_pickle=True)
