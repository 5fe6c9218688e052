# profile: solve, tool
# topic: match
def describe(value):
    match value:
        case {"op": "add", "args": [x, y], **rest}:
            return x + y, rest
        case [first, *_, last] if first == last:
            return "palindromic ends"
        case str() as text if text.isdigit():
            return int(text)
        case complex(real=r, imag=i):
            return r, i
        case None | True | False:
            return "constant"
        case _:
            return "other"


for v in ({"op": "add", "args": [1, 2], "k": 0}, [1, 2, 1], "42", 1 + 2j, None, 3.5):
    print(describe(v))
