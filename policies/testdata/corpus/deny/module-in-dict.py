# expect: blocked-attribute 6, blocked-path 6
# kind: attribute-walk
import numpy as np

box = {"lib": np}
print(box["lib"].genfromtxt("/etc/passwd"))
