# expect: blocked-path 3
# kind: attribute-walk
from dataclasses import make_dataclass

print(make_dataclass("P", ["x"]))
