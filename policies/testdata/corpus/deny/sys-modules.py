# expect: blocked-attribute 5
# kind: import
import sys

print(sys.modules["os"].getcwd())
