# expect: blocked-import 3
# kind: import
import codecs, io

print(codecs.open, io.open)
