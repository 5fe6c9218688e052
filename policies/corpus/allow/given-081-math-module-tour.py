# profile: solve, tool
# topic: math
# expect-stdout-sha256: 79811dc9b6336075c935ff0bab692cab3cb62e09bdb8095df5f99d153e0116f7
import math

print(math.isqrt(10**10), math.lcm(4, 6, 10), math.hypot(3, 4), math.prod(range(1, 6)))
print(f"{math.degrees(math.atan2(1, 1)):.1f}", math.isclose(0.1 + 0.2, 0.3))
