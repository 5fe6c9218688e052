# expect: hidden-text 2
# coding: utf-7
# expect-policy: allow
# expect-sandbox: the executed program is exactly the text that was checked: compile the checked string or tree, never a file re-read with its coding cookie
# source: own (PEP 263 cookie; ast.parse of a str ignores it, running the file honours it)
# note: a policy may reject any coding cookie other than utf-8
# +AAo-import os
# +AAo-if os.environ.get('SOLVER_TOKEN'): print('PWNED')
