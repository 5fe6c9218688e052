# expect: blocked-attribute 3
# kind: import
from sys import modules as table

print(table["os"])
