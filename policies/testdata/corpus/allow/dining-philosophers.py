# profile: solve
# topic: near miss
from dataclasses import dataclass


@dataclass
class Philosopher:
    name: str
    fork: bool = False
    os: str = "Linux"
    signal: int = 0


table = [Philosopher(n) for n in "AB"]
table[0].fork = True
print([p.fork for p in table], table[0].os, sum(p.signal for p in table))
