# expect: private-attribute 3
# kind: attribute-walk
Made = type.__call__(type, "Made", (), {})
