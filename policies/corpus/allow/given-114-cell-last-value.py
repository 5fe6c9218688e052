# profile: solve, tool
# topic: notebook cell
# expect-stdout-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
# expect-cell-value: 19.635
import math

radius = 2.5
area = math.pi * radius**2
round(area, 4)
