# profile: solve, tool
# topic: f-strings
width, precision, value = 10, 3, 3.14159
rows = [("a", 1), ("bb", 22)]
print(f"{value:{width}.{precision}f}|{value!r:>10}|{1_000_000:,}|{0.25:%}|{'x':*^5}|{value=:.1f}")
template = "{:<4}{:>4}"
for name, n in rows:
    print(template.format(name, n))
fmt = "{:.2f}".format
print(list(map(fmt, [1, 2.5])), "{{}} {}".format(1), format(255, "b"))
