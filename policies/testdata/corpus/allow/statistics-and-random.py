# profile: solve, tool
# topic: statistics
import random
import statistics
from statistics import NormalDist, fmean

rng = random.Random(5)
data = [rng.gauss(10, 2) for _ in range(200)]
print(abs(fmean(data) - 10) < 1, statistics.quantiles(range(10), n=4), NormalDist(0, 1).cdf(0))
random.seed(3)
print(sorted(random.sample(range(10), 3)) != [], random.choice("aa"), statistics.multimode("aabb"))
state = random.getstate()
random.setstate(state)
