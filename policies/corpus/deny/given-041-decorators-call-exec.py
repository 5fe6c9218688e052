# expect: blocked-name 6, decorator-expression 7
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: langchain-ai/langchain#21592
@exec
@"print('PWN' 'ED' if open('/etc/hostname').read().strip() else '')".format
class Anything:
    pass
