# expect: partial-module 5; profile: solve
# kind: info-leak
import sys

print(sys.executable, sys.path)
