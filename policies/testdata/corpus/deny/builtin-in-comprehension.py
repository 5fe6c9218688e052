# expect: blocked-name 3
# kind: attribute-walk
print([f("/etc/hostname") for f in [open]])
