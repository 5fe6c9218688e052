# profile: solve, tool
# topic: string formatting
# expect-stdout-sha256: 6fca571bfd2edf7bf0ca62703d215b642e194b609992e385e2f1ebfe88580af3
rows = [("alpha", 1.5), ("beta", 22.25)]
for label, number in rows:
    print("{:<8}|{:>8.2f}".format(label, number))
print("{0} + {0} = {1}".format(2, 4), "{n:03d}".format(n=7))
