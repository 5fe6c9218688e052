# expect: private-attribute 6, blocked-attribute 7
# kind: attribute-walk
import random

match random:
    case object(_os=hidden):
        print(hidden.environ)
