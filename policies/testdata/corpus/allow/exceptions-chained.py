# profile: solve
# topic: exceptions
class ParseError(ValueError):
    def __init__(self, text, position):
        super().__init__(f"cannot read {text!r} at {position}")
        self.text, self.position = text, position


def parse(text):
    try:
        return int(text)
    except ValueError as err:
        raise ParseError(text, 0) from err


for t in ("3", "x"):
    try:
        print(parse(t))
    except ParseError as e:
        print(type(e).__name__, e, e.position, e.args)
    finally:
        print("done")
