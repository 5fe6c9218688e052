# expect: blocked-dunder 4, format-value 4
# kind: attribute-walk
class Text(str):
    __call__ = str.format

print(Text("{0.__class__}")(1))
