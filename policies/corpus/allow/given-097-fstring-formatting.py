# profile: solve, tool
# topic: string formatting
# expect-stdout-sha256: c9a95f438ca6a504330b9073c516a0be14042944a8ba4c192ad21483f346b79f
value = 1234567.891
ratio = 0.4567
name = "x"
print(f"{value:,.2f} | {ratio:.1%} | {name:>5}|{name:^5}|{name:<5}| {255:#x} {10:08b}")
print(f"{name=} {ratio=:.2f}")
