# profile: solve, tool
# topic: numpy arrays
# expect-stdout: ['Bo', 'Ann', 'Cy']
import numpy as np

people = np.array([("Ann", 31), ("Bo", 25), ("Cy", 40)], dtype=[("name", "U10"), ("age", "i4")])
people.sort(order="age")
print(people["name"].tolist())
