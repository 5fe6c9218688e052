# expect: blocked-name 3
# kind: process
breakpoint()
name = input("name? ")
