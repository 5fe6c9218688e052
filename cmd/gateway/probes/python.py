# Says which interpreter and which libraries there are.
import sys, mpmath, numpy, plotly, sympy

print("%d.%d.%d" % sys.version_info[:3], *("%s=%s" % (m.__name__, m.__version__) for m in (mpmath, numpy, plotly, sympy)))
