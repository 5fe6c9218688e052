# profile: solve
# topic: datetime
import calendar
from datetime import date, datetime, timedelta, timezone

d = date(2024, 2, 29)
print(d.strftime("%d.%m.%Y"), calendar.isleap(d.year), calendar.monthrange(2023, 2), (d + timedelta(weeks=1)).isoweekday())
print(datetime(2024, 1, 1, tzinfo=timezone.utc).isoformat(), datetime.strptime("2024-03-01", "%Y-%m-%d").date() - d)
