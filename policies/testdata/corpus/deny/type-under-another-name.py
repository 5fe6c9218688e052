# expect: class-making 4
# kind: attribute-walk
make = type
Made = make("Made", (), {})
