"""Stands before a service and loses the answer to the first request that submits something: lossy.py PORT.
Prints its own port, and then the Idempotency-Key of each such request."""
import socket
import sys
import threading

target = int(sys.argv[1])
lost = threading.Event()


def head_and_rest(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(1 << 16)
        if not more:
            return None
        data += more
    head, rest = data.split(b"\r\n\r\n", 1)
    fields = dict(
        (name.strip().lower(), value.strip())
        for name, value in (line.split(":", 1) for line in head.decode().split("\r\n")[1:])
    )
    length = int(fields.get("content-length", 0))
    while len(rest) < length:
        rest += connection.recv(1 << 16)
    return head, fields, data.split(b"\r\n\r\n", 1)[0] + b"\r\n\r\n" + rest


def serve(client):
    with client, socket.create_connection(("127.0.0.1", target)) as service:
        while message := head_and_rest(client):
            head, fields, data = message
            service.sendall(data)
            answer = head_and_rest(service)
            if answer is None:
                return
            if head.startswith(b"POST"):
                print(fields.get("idempotency-key", "none"), flush=True)
                if not lost.is_set():
                    lost.set()
                    return
            client.sendall(answer[2])


with socket.create_server(("127.0.0.1", 0)) as listener:
    print("port", listener.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
