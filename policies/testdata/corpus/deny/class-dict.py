# expect: private-attribute 6
# kind: attribute-walk
class Point:
    x = 1

print(Point.__dict__["x"], Point().__dict__)
