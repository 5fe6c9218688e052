# expect: class-making 3
import abc
print(abc.ABCMeta('X', (), {}))
