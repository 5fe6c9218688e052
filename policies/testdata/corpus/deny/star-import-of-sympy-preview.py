# expect: blocked-path 6, code-in-text 6
# kind: process
from sympy import *

x = symbols("x")
preview(x**2, viewer="file", filename="/tmp/a.png")
