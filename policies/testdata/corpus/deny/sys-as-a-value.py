# expect: partial-module 8; profile: solve
# kind: import
import sys

def walk(thing):
    return thing

print(walk(sys))
