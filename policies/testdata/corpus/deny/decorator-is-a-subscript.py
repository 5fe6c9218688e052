# expect: decorator-expression 5
# kind: attribute-walk
tools = [print]

@tools[0]
class Shown:
    pass
