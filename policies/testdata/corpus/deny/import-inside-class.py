# expect: blocked-import 4
# kind: import
class Loader:
    import subprocess as tool
    run = tool.run
