# profile: solve, tool
# topic: generators
# expect-stdout: [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]
def primes():
    found = []
    n = 2
    while True:
        if all(n % p for p in found if p * p <= n):
            found.append(n)
            yield n
        n += 1

def take(k, gen):
    return [next(gen) for _ in range(k)]

print(take(12, primes()))
