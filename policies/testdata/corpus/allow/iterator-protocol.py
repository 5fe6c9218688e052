# profile: solve
# topic: generators
class Countdown:
    def __init__(self, start):
        self.current = start

    def __iter__(self):
        return self

    def __next__(self):
        if self.current <= 0:
            raise StopIteration
        self.current -= 1
        return self.current + 1


def averager():
    total, count, mean = 0, 0, None
    while True:
        value = yield mean
        if value is None:
            return total
        total += value
        count += 1
        mean = total / count


g = averager()
next(g)
print(list(Countdown(3)), g.send(10), g.send(20))
g.close()
