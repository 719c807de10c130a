"""An HTTP server that remembers where each range began that was asked for, and each body that came whole.

Downloads with ranges and conditions, PUT, POST, and resumable uploads (draft-ietf-httpbis-resumable-upload, interop
version 8). Standard library only.
"""

import hashlib
import socket
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PIECE = 64 << 10


class Upload:
    """A resumable upload: what has come of it, and whether it's whole."""

    def __init__(self, target, length):
        self.target, self.length = target, length
        self.bytes = bytearray()
        self.is_complete = False
        self.turn = 0  # counts the requests for it: a later one ends those before it


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512
    allow_reuse_address = True

    def __init__(self, host="127.0.0.1", port=0, handler=None):
        super().__init__((host, port), handler or Handler)
        self.lock = threading.Lock()
        self.files = {}  # path: bytes
        self.etags = {}  # path: strong validator
        self.cuts = {}  # path: where the next answers break off, in bytes of their bodies
        self.ranges = {}  # path: [(start, status)] of each GET
        self.sent = {}  # path: bytes of bodies that left
        self.whole = {}  # path: [sha256] of each body that came whole
        self.stored = {}  # path: (bytes, seconds since 1970)
        self.uploads = {}  # path: Upload
        self.pace = None  # bytes a second for each body; None is as fast as it goes
        self.connections = 0
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def server_bind(self):
        # What has been sent is counted, and nobody takes what stands in the kernel's buffers when a client dies.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 << 10)
        super().server_bind()

    @property
    def port(self):
        return self.server_address[1]

    def url(self, path):
        return f"http://{self.server_address[0]}:{self.port}{path}"

    def serve(self, path, content, cuts=()):
        self.files[path] = content
        self.etags[path] = '"%s"' % hashlib.sha256(content).hexdigest()[:20]
        self.cuts[path] = list(cuts)

    def forget(self, prefix):
        """Drops everything beneath a path: the next scenario begins with a clean server."""
        with self.lock:
            for table in (self.files, self.etags, self.cuts, self.ranges, self.sent, self.whole, self.stored, self.uploads):
                for path in [path for path in table if path.startswith(prefix)]:
                    del table[path]

    # Connections are counted from accept(2) on: a request of a client that died may still be on its way.

    def process_request(self, request, client_address):
        with self.lock:
            self.connections += 1
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        super().shutdown_request(request)
        with self.lock:
            self.connections -= 1

    def handle_error(self, request, client_address):
        """Clients are killed here: broken connections are the usual case."""

    def wait_until_quiet(self, limit=20):
        """Waits until everything that a killed client sent has been read and answered."""
        # Connections are accepted in their order: this one comes after all of the dead client's.
        with socket.create_connection(self.server_address, timeout=limit) as probe:
            probe.sendall(b"HEAD /probe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            while probe.recv(4096):
                pass
        deadline = time.monotonic() + limit
        while self.connections and time.monotonic() < deadline:
            # The kernel reports only to a server thread that its client is gone; other threads receive no event.
            time.sleep(0.002)
        return self.connections == 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60

    def log_message(self, *arguments):
        pass

    def answer(self, status, fields=(), content=b""):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.give(content)

    def give(self, content, until=None):
        end = len(content) if until is None else min(until, len(content))
        for start in range(0, end, PIECE):
            piece = content[start : min(start + PIECE, end)]
            self.wfile.write(piece)
            with self.server.lock:
                self.server.sent[self.path] = self.server.sent.get(self.path, 0) + len(piece)
            self.keep_pace(PIECE)
        if end < len(content):
            self.wfile.flush()
            self.close_connection = True

    def keep_pace(self, count):
        if self.server.pace:
            time.sleep(count / self.server.pace)

    # Downloads

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        server, path = self.server, self.path
        if path in server.uploads:
            return self.tell_offset(server.uploads[path])
        if path in server.stored:
            content, modified = server.stored[path]
            return self.answer(200, [("Last-Modified", formatdate(modified, usegmt=True))], content)
        content = server.files.get(path)
        if content is None:
            return self.answer(404)
        tag = server.etags[path]
        fields = [("ETag", tag), ("Accept-Ranges", "bytes"), ("Last-Modified", "Sat, 01 Nov 2025 10:00:00 GMT")]
        start, status = self.choose_range(len(content), tag, fields)
        if self.command == "GET":
            with server.lock:
                server.ranges.setdefault(path, []).append((start, status))
                cuts = server.cuts[path]
                cut = cuts.pop(0) if cuts and status in (200, 206) else None
        if status in (304, 416):
            # As nginx does, a 416 says nothing of validators.
            return self.answer(status, fields if status == 304 else fields[-1:])
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(self.last - start + 1))
        self.end_headers()
        if self.command == "GET":
            self.give(memoryview(content)[start : self.last + 1], cut)

    def choose_range(self, size, tag, fields):
        """Returns the first byte that is sent, and the status (RFC 9110 §13.2.2)."""
        self.last = size - 1
        if self.headers.get("If-None-Match") == tag:
            return 0, 304
        asked, condition = self.headers.get("Range"), self.headers.get("If-Range")
        if not asked or not asked.startswith("bytes=") or condition not in (None, tag):
            return 0, 200
        first, _, last = asked[6:].partition("-")
        start = int(first) if first else max(0, size - int(last))
        if first and last:
            self.last = min(self.last, int(last))
        if start >= size:
            fields.append(("Content-Range", f"bytes */{size}"))
            return start, 416
        fields.append(("Content-Range", f"bytes {start}-{self.last}/{size}"))
        return start, 206

    # Uploads

    def read_body(self, into, upload=None):
        """Returns whether the body came whole; `into` has what came, up to a later request for the same upload."""
        turn = upload and upload.turn
        if self.headers.get("Expect") == "100-continue":
            self.send_response_only(100)
            self.end_headers()
        left = int(self.headers.get("Content-Length", 0))
        while left:
            piece = self.rfile.read1(min(PIECE, left))
            if not piece:
                self.close_connection = True
                return False
            with self.server.lock:
                if upload and upload.turn != turn:
                    self.close_connection = True
                    return False
                into += piece
            left -= len(piece)
            self.keep_pace(len(piece))
        return True

    def take(self, path, content, replaces):
        with self.server.lock:
            self.server.whole.setdefault(path, []).append(hashlib.sha256(content).hexdigest())
            if replaces:
                self.server.stored[path] = (bytes(content), time.time())

    def do_PUT(self):
        if self.headers.get("Upload-Draft-Interop-Version") and self.path.startswith("/draft/"):
            return self.create_upload()
        content = bytearray()
        if self.read_body(content):
            self.take(self.path, content, replaces=True)
            self.answer(201)

    def do_POST(self):
        if self.headers.get("Upload-Draft-Interop-Version") and self.path.startswith("/draft/"):
            return self.create_upload()
        content = bytearray()
        if self.read_body(content):
            self.take(self.path, self.file_of_form(content), replaces=False)
            self.answer(201)

    def file_of_form(self, content):
        """Returns the file, where the body is a form with nothing else in it (RFC 7578)."""
        kind, _, boundary = self.headers.get("Content-Type", "").partition("boundary=")
        if not kind.startswith("multipart/form-data"):
            return content
        head, _, rest = bytes(content).partition(b"\r\n\r\n")
        assert b'name="file"' in head
        return rest[: rest.rindex(b"\r\n--" + boundary.strip('"').encode())]

    # Resumable uploads

    def upload_fields(self, upload, *more):
        flag = "?1" if upload.is_complete else "?0"
        return [("Upload-Draft-Interop-Version", "8"), ("Upload-Complete", flag), *more]

    def create_upload(self):
        length = int(self.headers["Upload-Length"])
        with self.server.lock:
            path = f"{self.path}/upload-{len(self.server.uploads)}"
            upload = self.server.uploads[path] = Upload(self.path, length)
        is_whole = self.read_body(upload.bytes, upload)
        if is_whole and self.headers.get("Upload-Complete") == "?1" and len(upload.bytes) == length:
            return self.complete(upload)
        if is_whole:
            place = [("Location", path), ("Upload-Offset", str(len(upload.bytes)))]
            self.answer(201, self.upload_fields(upload, *place))

    def tell_offset(self, upload):
        with self.server.lock:
            upload.turn += 1
        place = [("Upload-Offset", str(len(upload.bytes))), ("Upload-Length", str(upload.length))]
        self.answer(204, self.upload_fields(upload, *place, ("Cache-Control", "no-store")))

    def do_PATCH(self):
        upload = self.server.uploads.get(self.path)
        if not upload:
            return self.answer(404)
        if upload.is_complete and self.headers.get("Content-Length") == "0":
            # "The server can choose to replay the final response."
            return self.answer(201, self.upload_fields(upload))
        with self.server.lock:
            upload.turn += 1
            goes_on = int(self.headers["Upload-Offset"]) == len(upload.bytes) and not upload.is_complete
        if not goes_on:
            self.close_connection = True
            return self.answer(409, self.upload_fields(upload, ("Upload-Offset", str(len(upload.bytes)))))
        if not self.read_body(upload.bytes, upload):
            return None
        if self.headers.get("Upload-Complete") == "?1" and len(upload.bytes) == upload.length:
            return self.complete(upload)
        return self.answer(204, self.upload_fields(upload, ("Upload-Offset", str(len(upload.bytes)))))

    def complete(self, upload):
        upload.is_complete = True
        self.take(upload.target, upload.bytes, replaces=False)
        self.answer(201, self.upload_fields(upload))

    def do_DELETE(self):
        with self.server.lock:
            self.server.uploads.pop(self.path, None)
        self.answer(204)
