# expect: too-large
# kind: parser
n = 0
try:
    n += 1
finally:
    try:
        n += 1
    finally:
        try:
            n += 1
        finally:
            try:
                n += 1
            finally:
                n += 1
