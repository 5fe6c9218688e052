# profile: solve, tool
# topic: algorithms
import operator
import re

OPS = {"+": (1, operator.add), "-": (1, operator.sub), "*": (2, operator.mul), "/": (2, operator.truediv)}


def evaluate(text):
    tokens = re.findall(r"\d+\.?\d*|[-+*/()]", text)
    values, ops = [], []

    def reduce():
        right, left = values.pop(), values.pop()
        values.append(OPS[ops.pop()][1](left, right))

    for token in tokens:
        if token == "(":
            ops.append(token)
        elif token == ")":
            while ops[-1] != "(":
                reduce()
            ops.pop()
        elif token in OPS:
            while ops and ops[-1] != "(" and OPS[ops[-1]][0] >= OPS[token][0]:
                reduce()
            ops.append(token)
        else:
            values.append(float(token))
    while ops:
        reduce()
    return values[0]


print(evaluate("2*(3+4)-5/2"))
