# expect: blocked-attribute 5, blocked-path 5
# kind: attribute-walk
import numpy as np

print((m := np), m.savetxt("/tmp/a", [1]))
