# profile: solve
from abc import ABCMeta, abstractmethod
import abc
class S(metaclass=ABCMeta):
    @abstractmethod
    def f(self): ...
class T(metaclass=abc.ABCMeta):
    pass
print(S, T)
