# expect: blocked-path 5
# kind: attribute-walk
import string

class Mine(string.Formatter):
    def get_value(self, key, args, kwargs):
        return print

print(Mine().format("{x.__self__}"))
