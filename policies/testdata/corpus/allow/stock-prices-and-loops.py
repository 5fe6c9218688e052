# profile: solve, tool
# topic: near miss
open_price, close_price = 10.0, 12.5
prices = [{"open": 10, "close": 11}, {"open": 11, "close": 9}]
gains = [p["close"] - p["open"] for p in prices]
dir = "up" if sum(gains) > 0 else "down"
vars = {"gain": sum(gains)}
print(dir, vars, max(gains), close_price - open_price)
