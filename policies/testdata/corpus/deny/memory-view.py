# expect: blocked-attribute 3, blocked-name 3
# kind: memory
print(memoryview(b"abc").obj)
