# profile: solve, tool
# topic: numpy statistics
# expect-stdout: mean=5.00 std=2.00 median=4.5
import numpy as np

data = np.array([2, 4, 4, 4, 5, 5, 7, 9])
print(f"mean={data.mean():.2f} std={data.std():.2f} median={np.median(data):.1f}")
