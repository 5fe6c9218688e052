# expect: blocked-attribute 8
# kind: attribute-walk
class Guard:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        print(trace.tb_frame.f_globals)
        return True

with Guard():
    1 / 0
