import concurrent.futures, queue, threading, time
q = queue.Queue()
t = threading.Thread(target=lambda: q.put(q.get(timeout=0.01) if not q.empty() else 1), daemon=True)
t.start(); t.join()
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    assert list(pool.map(lambda n: n * n, range(8))) == [n * n for n in range(8)]
time.sleep(0.01)
lock = threading.Lock(); lock.acquire(); assert not lock.acquire(timeout=0.01)
threading.Timer(0.01, lambda: None).start()
