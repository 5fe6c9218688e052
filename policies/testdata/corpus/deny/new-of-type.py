# expect: private-attribute 3
# kind: attribute-walk
Made = type.__new__(type, "Made", (), {})
