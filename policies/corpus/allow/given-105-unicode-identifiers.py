# profile: solve, tool
# topic: unicode
# expect-stdout: 0.5 0.5
π = 3.141592653589793
Δx = 0.5
θ = π / 6
import math
print(round(math.sin(θ), 10), Δx)
