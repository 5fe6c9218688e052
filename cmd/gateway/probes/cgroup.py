# Starts threads until it is stopped.
import threading

go, started = threading.Event(), []
try:
    while len(started) < 256:
        thread = threading.Thread(target=go.wait)
        thread.start()
        started.append(thread)
except (RuntimeError, MemoryError):
    pass
go.set()
for thread in started:
    thread.join()
print("OPEN: 256 threads could be started" if len(started) >= 256 else "SHUT: %d threads could be started, not 256" % len(started))
