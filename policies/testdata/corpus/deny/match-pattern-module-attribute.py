# expect: blocked-attribute 6, blocked-path 6
# kind: attribute-walk
import statistics

match statistics:
    case object(sys=found):
        print(found.modules)
