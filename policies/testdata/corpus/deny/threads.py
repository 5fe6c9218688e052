# expect: blocked-import 3
# kind: process
import threading
from concurrent.futures import ThreadPoolExecutor

threading.Thread(target=print).start()
