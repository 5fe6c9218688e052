# expect: format-value 6
# kind: attribute-walk
import random

pieces = ["{0._os", "}"]
print(list(map("".join(pieces).format, [random])))
