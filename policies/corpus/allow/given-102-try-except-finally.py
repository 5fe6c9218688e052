# profile: solve, tool
# topic: exceptions
# expect-stdout: 0.5 inf type error: unsupported 3
def safe_divide(a, b):
    try:
        result = a / b
    except ZeroDivisionError:
        return float("inf")
    except TypeError as err:
        return f"type error: {err.args[0][:11]}"
    else:
        return result
    finally:
        counter.append(1)

counter = []
print(safe_divide(1, 2), safe_divide(1, 0), safe_divide("a", 1), len(counter))
