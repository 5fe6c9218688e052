# expect: blocked-attribute 5, private-attribute 5
# kind: attribute-walk
import numpy as np

print(np.__spec__.loader.get_data("/etc/hostname"))
