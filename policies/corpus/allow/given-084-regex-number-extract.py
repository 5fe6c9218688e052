# profile: solve, tool
# topic: re
# expect-stdout: [7.0, -3.25, 14.0, 0.002]
import re

line = "Trial 7: x = -3.25, y = 14, z = 2e-3"
numbers = [float(m) for m in re.findall(r"(?<![A-Za-z])-?\d+(?:\.\d+)?(?:e-?\d+)?", line)]
print(numbers)
