# expect: blocked-name 3
# kind: attribute-walk
print(max(["print('x')"], key=exec))
