# expect: private-attribute 5
# kind: fs-read
import random

print(random._urandom(3), random.SystemRandom)
