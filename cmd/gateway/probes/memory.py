# Allocates until it is stopped, and uses what it gets.
kept = []
while len(kept) < 1 << 16:
    kept.append(b"\1" * (16 << 20))
print("OPEN: it got a tebibyte")
