# expect: blocked-name 8
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: saint2706/Coding-For-MBA#626 (Python NFKC-normalises identifiers)
# fullwidth and mathematical letters become ASCII in the parser
code = "print('PWN' 'ED' if ｏｐｅｎ('/etc/hostname').read().strip() else '')"
𝕒𝕟𝕤 = ｅｘｅｃ
ans(code)
