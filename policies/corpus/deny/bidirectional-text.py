# expect: hidden-text 4
# kind: parser
allowed = True
# check ‮⁦ if allowed⁩
print(allowed)
