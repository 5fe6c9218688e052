# profile: solve
# topic: near miss
class Signal:
    def __init__(self, samples):
        self.samples = samples
        self.signal = samples
        self.system = "LTI"
        self.modules = []
        self.obj = None

    def get_value(self, n):
        return self.samples[n]

    def measure(self):
        return max(self.samples)

    def dump(self):
        return ",".join(map(str, self.samples))

    def preview(self):
        return self.samples[:2]


s = Signal([3, 1, 2])
print(s.signal, s.get_value(1), s.measure(), s.dump(), s.preview(), s.system, s.modules, s.obj)
