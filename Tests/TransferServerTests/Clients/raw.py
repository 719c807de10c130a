"""Sends bytes as they are, in one packet, and says what comes back until nothing does: raw.py PORT < BYTES."""
import socket
import sys

with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=1.5) as connection:
    connection.sendall(sys.stdin.buffer.read())
    try:
        while data := connection.recv(1 << 16):
            sys.stdout.buffer.write(data)
    except (TimeoutError, ConnectionResetError):
        pass
