# expect: blocked-dunder 3
# kind: info-leak
print(__file__)
