# expect: blocked-path 6
# kind: attribute-walk
import numpy as np

def use(library, name):
    return library.load(name)

print(use(np, "/tmp/a.npy"))
