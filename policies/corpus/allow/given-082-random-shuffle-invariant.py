# profile: solve, tool
# topic: random
# expect-stdout: True 1326
import random

random.seed(2024)
deck = list(range(52))
random.shuffle(deck)
print(sorted(deck) == list(range(52)), sum(deck))
