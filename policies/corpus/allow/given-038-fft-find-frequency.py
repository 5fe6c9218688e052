# profile: solve, tool
# topic: numpy fft
# expect-stdout: [12, 40]
import numpy as np

rate = 256
t = np.arange(rate) / rate
signal = np.sin(2*np.pi*12*t) + 0.5*np.sin(2*np.pi*40*t)
spectrum = np.abs(np.fft.rfft(signal))
freqs = np.fft.rfftfreq(rate, d=1/rate)
top = np.argsort(spectrum)[-2:]
print(sorted(int(f) for f in freqs[top]))
