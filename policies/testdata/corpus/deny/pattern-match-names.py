# expect: blocked-dunder 5
import abc
names = ['x']
class G(abc.ABC):
    __match_args__ = (*names,)
print(G)
