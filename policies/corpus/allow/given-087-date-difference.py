# profile: solve
# topic: datetime
# expect-stdout: 2024-03-01 309
from datetime import date, timedelta

start = date(2024, 2, 27)
later = start + timedelta(days=3)
print(later.isoformat(), (date(2025, 1, 1) - start).days)
