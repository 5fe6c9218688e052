# expect: blocked-attribute 6
# kind: attribute-walk
class Mine:
    gi_frame = 1

print((n for n in "a").gi_frame)
