# profile: solve
# topic: classes
class Poly(dict):
    def __missing__(self, power):
        return 0

    def __iadd__(self, other):
        for k, v in other.items():
            self[k] = self[k] + v
        return self

    def __copy__(self):
        return Poly(self)


import copy

p = Poly({2: 1})
p += Poly({2: 3, 0: 1})
q = copy.copy(p)
q[0] = 9
print(dict(p), p[7], copy.deepcopy([p])[0][2])
