# profile: solve, tool
# topic: string formatting
# expect-stdout-sha256: 6c24ae579e7383edb7d5876696b873b8b7802f582900d869905b85b352c88713
for n in (1, 10, 100):
    print("%5d %8.3f %s" % (n, n ** 0.5, "odd" if n % 2 else "even"))
