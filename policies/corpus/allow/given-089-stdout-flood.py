# profile: solve, tool
# kind: output
# expect-policy: allow
# expect-sandbox: stdout capped while it is read; the process is killed or drained, never buffered whole
# source: tinyhumansai/openhuman#4718 (cap while reading)
# check: cage
# note: PWNED sits in the middle of 512 MiB of output, so that keeping head and tail does not show it
BLOCKS = 8192  # check-with: 16
line = "=" * 65535
for k in range(BLOCKS):
    print(line)
    if k == BLOCKS // 2:
        print("PWNED")
