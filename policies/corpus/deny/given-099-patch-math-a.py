# expect: module-store 10
# kind: state-leak
# expect-policy: reject
# expect-sandbox: every request runs in a fresh interpreter (or a fork made before any guest code ran)
# source: dimagi/open-chat-studio#4239
# detect: first half of a pair, prints nothing
# check: worker-pair-first
import math

math.sqrt = lambda value: -1.0
