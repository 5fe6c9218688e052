# expect: private-attribute 6, blocked-attribute 7
# kind: attribute-walk
try:
    1 / 0
except ZeroDivisionError as error:
    tb = error.__traceback__
    while tb.tb_next:
        tb = tb.tb_next
    print(tb.tb_frame)
