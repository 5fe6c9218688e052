# expect: blocked-attribute 8, blocked-path 8
# kind: attribute-walk
import numpy as np

class Tools:
    lib = np

print(Tools.lib.fromregex("/etc/passwd", ".", []))
