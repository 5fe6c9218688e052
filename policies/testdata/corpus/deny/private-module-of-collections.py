# expect: blocked-attribute 5, private-attribute 5
# kind: attribute-walk
import collections

print(collections._sys.modules)
