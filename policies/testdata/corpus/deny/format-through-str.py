# expect: format-value 5
# kind: attribute-walk
import random

print(str.format("{0._os.environ}", random))
