# Forks.
import os

if os.fork() == 0:
    os._exit(0)
print("OPEN: a process was made")
