# expect: blocked-dunder 4
u = chr(95) * 2
class G:
    print(__match_args__ := (u + 'globals' + u,))
print(G)
