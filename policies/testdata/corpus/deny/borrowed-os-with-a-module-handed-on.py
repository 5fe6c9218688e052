# expect: blocked-attribute 9
# kind: attribute-walk
import random

class Phone:
    os = "x"

def peek(thing):
    return thing.os

print(peek(Phone()), peek(random))
