# expect: blocked-path 2
load = 1
from numpy import *
load('x', allow_pickle=True)
