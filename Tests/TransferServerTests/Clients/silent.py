"""Opens connections and says nothing on them, until its input ends: silent.py PORT COUNT [HEAD]."""
import socket
import sys

port, count = int(sys.argv[1]), int(sys.argv[2])
head = sys.argv[3].encode() if len(sys.argv) > 3 else b""
connections = []
for _ in range(count):
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    if head:
        connection.sendall(head)
    connections.append(connection)
print("open", flush=True)
sys.stdin.read()
