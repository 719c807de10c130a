"""A server of HTTP that survives kill -9: what came whole is on record before it is answered.

    python3 soak_inbox.py FOLDER PORT SEED

A PUT replaces a file and a POST is a message of its own; both are recorded with their SHA-256. A POST to /hook is a webhook's
message. Some requests are refused, and some answers are lost after the body was stored: the seed says which.
"""

import hashlib
import json
import os
import random
import sys
import threading
import time
from email.utils import formatdate
from pathlib import Path

from server import Handler, Server


class Inbox(Server):
    """The record is the truth: one line for each body, written by one call before the answer."""

    def __init__(self, folder, port, seed):
        self.folder = Path(folder)
        self.chance = random.Random(seed)
        self.record = os.open(self.folder / "record.jsonl", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        self.kept = {}  # path: (digest, seconds since 1970)
        for line in (self.folder / "record.jsonl").read_text().splitlines():
            entry = json.loads(line)
            if entry["method"] == "PUT":
                self.kept[entry["path"]] = (entry["digest"], entry["time"])
        super().__init__(port=port, handler=InboxHandler)

    def draw(self):
        with self.lock:
            return self.chance.random()

    def keep(self, method, path, content, fields):
        entry = {"method": method, "path": path, **fields}
        if method != "HOOK":
            digest = hashlib.sha256(content).hexdigest()
            entry |= {"digest": digest, "size": len(content)}
            if method == "PUT":
                # Several files may have the same bytes: they have one blob, which stays.
                (self.folder / digest).write_bytes(content)
        with self.lock:
            os.write(self.record, json.dumps(entry).encode() + b"\n")
            if method == "PUT":
                self.kept[path] = (entry["digest"], entry["time"])


class InboxHandler(Handler):
    def do_GET(self):
        if self.path not in self.server.kept:
            return self.answer(404)
        digest, modified = self.server.kept[self.path]
        fields = [("ETag", f'"{digest[:20]}"'), ("Last-Modified", formatdate(modified, usegmt=True))]
        return self.answer(200, fields, (self.server.folder / digest).read_bytes())

    def do_PUT(self):
        self.receive("PUT")

    def do_POST(self):
        self.receive("HOOK" if self.path == "/hook" else "POST")

    def receive(self, method):
        fate = self.server.draw()
        if fate < 0.02:
            # Refused before anything was read.
            self.close_connection = True
            return self.answer(503, [("Retry-After", "1")])
        content = bytearray()
        if not self.read_body(content):
            return None
        if 0.02 <= fate < 0.04:
            return self.answer(503)
        fields = {"time": time.time()}
        if method == "HOOK":
            fields |= {"id": self.headers.get("webhook-id"), "message": json.loads(content)}
        self.server.keep(method, self.path, bytes(content), fields)
        if 0.04 <= fate < 0.06:
            # Stored, and the answer is lost.
            self.close_connection = True
            return None
        if 0.06 <= fate < 0.07:
            return self.answer(504)
        return self.answer(204 if method == "HOOK" else 201)


if __name__ == "__main__":
    Inbox(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    threading.Event().wait()
