# profile: solve, tool
# topic: statistics
# expect-stdout: 15.285714285714286 15 15 3.302
import statistics as st

sample = [12, 15, 11, 19, 15, 15, 20]
print(st.mean(sample), st.median(sample), st.mode(sample), round(st.stdev(sample), 3))
