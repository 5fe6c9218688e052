# profile: solve, tool
# topic: scope
counter = 0


def outer():
    hits = 0

    def inner(step=1, *rest, flag=False, **options):
        nonlocal hits
        global counter
        hits += step
        counter += 1
        return hits, rest, flag, sorted(options)

    return inner


f = outer()
print(f(), f(2, 3, flag=True, z=1, a=2), counter)
del counter
