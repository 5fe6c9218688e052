# expect: blocked-dunder 4
# kind: state-leak
class Late:
    def __del__(self):
        print("late")

late = Late()
