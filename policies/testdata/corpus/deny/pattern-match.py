# expect: blocked-dunder 5
import abc
u = chr(95) * 2
class G(abc.ABC):
    __match_args__ = (u + 'globals' + u,)
print(G)
