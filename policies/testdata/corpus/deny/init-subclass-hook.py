# expect: blocked-dunder 4
# kind: attribute-walk
class Base:
    def __init_subclass__(cls, **options):
        print(cls)
