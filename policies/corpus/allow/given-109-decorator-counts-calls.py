# profile: solve, tool
# topic: decorators
# expect-stdout: collatz 112
import functools

def counted(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return func(*args, **kwargs)
    wrapper.calls = 0
    return wrapper

@counted
def collatz(n):
    return n if n == 1 else collatz(n // 2 if n % 2 == 0 else 3 * n + 1)

collatz(27)
print(collatz.__name__, collatz.calls)
