# expect: blocked-name 3
# kind: attribute-walk
if (reader := open):
    print(reader("/etc/hostname").read())
