# Opens a socket.
import socket

print("OPEN: a socket was had:", socket.socket(socket.AF_UNIX).fileno() >= 0)
