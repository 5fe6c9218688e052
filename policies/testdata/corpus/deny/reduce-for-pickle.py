# expect: blocked-dunder 6
# kind: attribute-walk
import copy

class Again:
    def __reduce__(self):
        return (print, ("run",))

copy.copy(Again())
