# expect: blocked-attribute 6, private-attribute 6
# kind: attribute-walk
import random

template = "{0._os.environ}"
print(template.format(random))
