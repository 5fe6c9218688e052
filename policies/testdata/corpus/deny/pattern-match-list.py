# expect: blocked-dunder 4
u = chr(95) * 2
class G:
    for __match_args__ in [(u + 'globals' + u,)]:
        pass
print(G)
