# expect: too-large
# kind: parser
# expect-policy: allow
# expect-sandbox: compilation happens inside the sandbox limits, not in the gateway or the policy helper
# source: own (CPython compiles each finally body twice, so nesting doubles)
# detect: compile() of this small program takes about 8 s of CPU here; it must hit the sandbox limit or end as a normal result, and must not be compiled in the gateway or the policy helper
# check: slow
x = 0
try:
    x += 1
finally:
    try:
        x += 1
    finally:
        try:
            x += 1
        finally:
            try:
                x += 1
            finally:
                try:
                    x += 1
                finally:
                    try:
                        x += 1
                    finally:
                        try:
                            x += 1
                        finally:
                            try:
                                x += 1
                            finally:
                                try:
                                    x += 1
                                finally:
                                    try:
                                        x += 1
                                    finally:
                                        try:
                                            x += 1
                                        finally:
                                            try:
                                                x += 1
                                            finally:
                                                try:
                                                    x += 1
                                                finally:
                                                    try:
                                                        x += 1
                                                    finally:
                                                        try:
                                                            x += 1
                                                        finally:
                                                            try:
                                                                x += 1
                                                            finally:
                                                                try:
                                                                    x += 1
                                                                finally:
                                                                    try:
                                                                        x += 1
                                                                    finally:
                                                                        try:
                                                                            x += 1
                                                                        finally:
                                                                            x += 1
print('PWNED' if x < 0 else x)
