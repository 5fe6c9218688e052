# profile: solve, tool
# topic: numpy
import numpy as np

f = np.vectorize(lambda n: n * (n + 1) // 2)
values = np.fromiter((k * k for k in range(5)), dtype=int)
print(f(np.arange(5)).tolist(), values.tolist(), np.where(values > 3, 1, 0).tolist())
print(np.apply_along_axis(np.sum, 0, np.eye(3)).tolist(), np.piecewise(np.array([-1.0, 2.0]), [np.array([True, False])], [0]).tolist())
print(np.einsum("ij,ij->", np.eye(2), np.eye(2)), np.lib.stride_tricks.sliding_window_view(np.arange(4), 2).tolist())
a = np.zeros(3)
a.flags.writeable
a.view(np.int64)
print(a.dtype.name, a.itemsize, np.char.upper(np.array(["a"])).tolist(), np.ma.masked_array([1, 2], mask=[0, 1]).sum())
