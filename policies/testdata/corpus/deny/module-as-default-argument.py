# expect: blocked-attribute 6, blocked-path 6
# kind: attribute-walk
import numpy

def read(path, lib=numpy):
    return lib.loadtxt(path)

print(read("/etc/hostname"))
