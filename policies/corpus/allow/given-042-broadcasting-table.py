# profile: solve, tool
# topic: numpy arrays
# expect-stdout-sha256: 41e5049797b04232e88712cdccb2c7ac7a34f32d870efb74b4e6d0162a35127b
import numpy as np

row = np.arange(1, 6)
table = row[:, None] * row[None, :]
for line in table.tolist():
    print(" ".join(f"{v:3d}" for v in line))
