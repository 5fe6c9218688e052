# profile: solve
class P:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y):
        self.x = x
        self.y = y
match P(1, 2):
    case P(a, b):
        print(a, b)
