"""Says the notifications that come by WebSocket: aria2p_listen.py PORT SECRET COUNT."""
import json
import sys

import websocket

port, secret, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
socket = websocket.create_connection(f"ws://127.0.0.1:{port}/jsonrpc", timeout=30)
# Calls are answered on the same connection.
socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "aria2.getVersion", "params": ["token:" + secret]}))
print(json.dumps(sorted(json.loads(socket.recv())["result"])), flush=True)
while count:
    message = json.loads(socket.recv())
    print(message["method"], message["params"][0]["gid"], flush=True)
    count -= 1
socket.close()
