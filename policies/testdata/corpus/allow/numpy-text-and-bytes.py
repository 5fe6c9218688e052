# profile: solve, tool
# topic: numpy
import numpy as np

raw = np.array([1, 2], dtype=np.uint8).tobytes()
print(np.frombuffer(raw, dtype=np.uint8).tolist(), np.array2string(np.arange(3)), np.base_repr(10, 2), np.binary_repr(5))
print(np.format_float_positional(1.5), np.array_str(np.eye(2)))
