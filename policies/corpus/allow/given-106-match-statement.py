# profile: solve, tool
# topic: match
# expect-stdout: -10
def evaluate(node):
    match node:
        case int() | float():
            return node
        case ("+", left, right):
            return evaluate(left) + evaluate(right)
        case ("*", left, right):
            return evaluate(left) * evaluate(right)
        case ("neg", inner):
            return -evaluate(inner)
        case _:
            raise ValueError(f"unknown node {node!r}")

print(evaluate(("+", 2, ("*", 3, ("neg", 4)))))
