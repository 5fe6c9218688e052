# expect: blocked-attribute 6, blocked-path 6
# kind: attribute-walk
import datetime as dt

clock = dt
print(clock.sys)
