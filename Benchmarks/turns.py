#!/usr/bin/env python3
"""turns.py PORT -- COMMAND...: runs COMMAND with a relay in front of 127.0.0.1:PORT, and prints the round trips.

RELAY in COMMAND's arguments stands for the relay's port. A round trip is a new connection, and each time that bytes of
the server follow bytes of the client. The relay holds the server's bytes for 40 ms after the client's last bytes. Client
bytes that do not wait for an answer therefore belong to the former round trip. Data connections of FTP bypass the relay:
the line "data" of the output has their number, counted by the replies to EPSV and PASV in clear text.
"""
import re
import select
import socket
import subprocess
import sys
import threading

HOLD = 0.04
counts = {"connections": 0, "turns": 0, "data": 0}
lock = threading.Lock()


def count(what, number=1):
    with lock:
        counts[what] += number


def relay(client, port):
    server = socket.create_connection(("127.0.0.1", port))
    for end in (client, server):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    asked = False
    with client, server:
        while True:
            ready, _, _ = select.select([client, server], [], [])
            while ready:
                if client in ready:
                    data = client.recv(1 << 16)
                    if not data:
                        return
                    asked = True
                    server.sendall(data)
                # The client may have more to send without an answer.
                ready, _, _ = select.select([client], [], [], HOLD)
            if select.select([server], [], [], 0)[0]:
                data = server.recv(1 << 16)
                if not data:
                    return
                count("data", len(re.findall(rb"^(?:229|227) ", data, re.MULTILINE)))
                if asked:
                    count("turns")
                asked = False
                client.sendall(data)


def carry(client, port):
    try:
        relay(client, port)
    except OSError:
        pass


def accept(listener, port):
    while True:
        client, _ = listener.accept()
        count("connections")
        threading.Thread(target=carry, args=(client, port), daemon=True).start()


def main():
    port = int(sys.argv[1])
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    threading.Thread(target=accept, args=(listener, port), daemon=True).start()
    own = str(listener.getsockname()[1])
    status = subprocess.call([word.replace("RELAY", own) for word in sys.argv[3:]])
    print(f"{counts['connections'] + counts['turns']} round trips ({counts['connections']} connections, "
          f"{counts['turns']} turns), {counts['data']} data; status {status}")


main()
