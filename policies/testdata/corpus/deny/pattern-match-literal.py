# expect: blocked-attribute 3
class G:
    __match_args__ = ('gi_frame',)
print(G)
