# expect: blocked-name 3
# kind: attribute-walk
print(type(exit), quit, license)
