"""A client that is slow in one way, until the service ends its connection: slow.py PORT KIND PATH.

KIND: `silent` says nothing, `head` sends a request's head and `body` its body, byte after byte, without an end; `idle` asks
once and stays; `deaf` asks for PATH again and again, and reads nothing. What is printed last is `closed`.
"""
import itertools
import socket
import sys
import time

port, kind, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
connection = socket.socket()
# A small buffer: what nobody reads stays with the service soon.
connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
connection.connect(("127.0.0.1", port))
head = b"GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % (path.encode(), port)


def drip(first):
    """Each byte is progress, and none is the last."""
    connection.sendall(first)
    while True:
        connection.sendall(b"a")
        # A client's own slowness is the subject.
        time.sleep(0.01)


def wait_for_end():
    while connection.recv(1 << 16):
        pass


print("connected", flush=True)
try:
    match kind:
        case "silent":
            wait_for_end()
        case "head":
            drip(head + b"X-Long: ")
        case "body":
            drip(head.replace(b"GET", b"POST") + b"Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n")
        case "idle":
            connection.sendall(head + b"\r\n")
            wait_for_end()
        case "deaf":
            for _ in itertools.count():
                connection.sendall(head + b"\r\n")
except (ConnectionResetError, BrokenPipeError):
    pass
print("closed", flush=True)
