# expect: blocked-name 3
# kind: fs-read
help("modules")
