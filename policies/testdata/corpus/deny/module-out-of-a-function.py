# expect: blocked-path 8
# kind: attribute-walk
import numpy

def library():
    return numpy

print(library().save("/tmp/x", [1]))
