# profile: solve
# topic: context managers
class Timer:
    def __init__(self, label):
        self.label = label
        self.log = []

    def __enter__(self):
        self.log.append("start " + self.label)
        return self

    def __exit__(self, exc_type, exc, tb):
        self.log.append("stop" if exc is None else f"failed: {exc_type.__name__}")
        return True


with Timer("a") as t, Timer("b") as u:
    raise ValueError("no")
print(t.log, u.log)
