# expect: blocked-dunder 3
# kind: attribute-walk
print(dict(__class__=int))
