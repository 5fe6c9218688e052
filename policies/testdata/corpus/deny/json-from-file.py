# expect: blocked-path 5
# kind: fs-read
import json

print(json.load("/etc/hostname"))
