# expect: class-making 3
# kind: attribute-walk
Made = type(*["Made", (), {"x": 1}])
