# expect: private-attribute 5
# kind: import
import sys as system

print(system._getframe(), system.path)
