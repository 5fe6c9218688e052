# expect: private-attribute 5
# kind: state-leak
import math

object.__setattr__(math, "pi", 3)
