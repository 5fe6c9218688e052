# profile: solve
class P:
    def __init__(self):
        self.signal = 1
        self.system = 2
        self.query = 3
    def measure(self):
        return self.signal
p = P()
print(p.measure(), p.system)
