# expect: blocked-attribute 7
# kind: attribute-walk
def numbers():
    yield 1

match numbers():
    case object(gi_frame=frame):
        print(frame)
