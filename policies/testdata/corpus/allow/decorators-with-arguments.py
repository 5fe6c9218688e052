# profile: solve
# topic: decorators
import functools


def repeat(times):
    def wrap(func):
        @functools.wraps(func)
        def inner(*args, **kwargs):
            return [func(*args, **kwargs) for _ in range(times)]
        inner.times = times
        return inner
    return wrap


class memo:
    def __init__(self, func):
        self.func = func
        self.cache = {}
        functools.update_wrapper(self, func)

    def __call__(self, n):
        if n not in self.cache:
            self.cache[n] = self.func(n)
        return self.cache[n]


@memo
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@repeat(times=2)
def hello(name):
    """Greets."""
    return f"hello {name}"


print(fib(50), hello("x"), hello.__name__, hello.__doc__, hello.times, fib.cache[10])
