values = [n * n for n in range(1, 1001)]
print(sum(values))
