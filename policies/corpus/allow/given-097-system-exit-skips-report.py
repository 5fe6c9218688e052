# profile: solve, tool
# kind: protocol
# expect-policy: allow
# expect-sandbox: any BaseException ends in a structured result; the worker survives or is replaced
# source: CVE-2026-55244 (lmfit/asteval GHSA-89v8-rhwq-hf77)
# detect: transport error, empty body or a dead worker instead of a structured result; the next request fails
# check: worker-dies
print("partial")
raise SystemExit(0)
