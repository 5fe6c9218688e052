# expect: blocked-dunder 4
# kind: attribute-walk
match {"a": 1}:
    case {**__builtins__}:
        print(__builtins__)
