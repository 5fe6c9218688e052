import locale, os, platform, random, secrets, select, signal, sys, sysconfig, time, uuid, zoneinfo, datetime, decimal, gc, faulthandler, resource, errno
random.random(); secrets.token_hex(); uuid.uuid4(); os.urandom(4); time.monotonic(); time.process_time(); time.thread_time(); time.perf_counter(); time.localtime(); time.tzset()
os.cpu_count(); os.getpid(); os.getppid(); os.getuid(); os.getgroups(); os.uname(); os.getcwd(); os.times(); os.sched_getaffinity(0); os.isatty(1); os.get_blocking(1)
platform.python_version(); sys.getsizeof([]); gc.collect(); faulthandler.enable(); resource.getrusage(resource.RUSAGE_SELF); resource.getrlimit(resource.RLIMIT_AS); os.getpriority(os.PRIO_PROCESS, 0)
r, w = os.pipe(); select.select([], [w], [], 0); select.poll().poll(0); select.epoll().close(); os.dup(r); os.set_inheritable(r, True); os.set_blocking(r, False)
hits = []; signal.signal(signal.SIGALRM, lambda *a: hits.append(1)); signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(0.05); assert hits
signal.signal(signal.SIGUSR1, lambda *a: hits.append(2)); os.kill(os.getpid(), signal.SIGUSR1); signal.raise_signal(signal.SIGUSR1); assert hits.count(2) == 2
datetime.datetime.now(zoneinfo.ZoneInfo("UTC")) if zoneinfo.available_timezones() else None
try: os.nice(1)
except OSError as e: assert e.errno in (errno.EPERM, errno.EACCES)
os.get_terminal_size if False else None
import shutil; shutil.get_terminal_size(); locale.setlocale(locale.LC_ALL, "")
