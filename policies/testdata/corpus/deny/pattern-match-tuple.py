# expect: blocked-dunder 4
u = chr(95) * 2
class G:
    __match_args__, x = (u + 'globals' + u,), 1
print(G)
