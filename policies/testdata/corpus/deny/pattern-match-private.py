# expect: private-attribute 3
class G:
    __match_args__ = ('_os',)
print(G)
