# expect: private-attribute 5
# kind: attribute-walk
import random

print("{0:{1._os.sep}}".format(3, random))
