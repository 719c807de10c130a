"""Servers of other people's making: nginx, and out of PyPI (`make setup-peers`) tuspyserver and moto."""

import collections
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".build/peers/python/bin/python"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def are_installed():
    """The list is written last, once all of its packages are installed."""
    return (PYTHON.parents[1] / "installed.txt").exists()


def fetch(url, method="GET", fields=None, limit=30):
    request = urllib.request.Request(url, method=method, headers=fields or {})
    with urllib.request.urlopen(request, timeout=limit) as answer:
        return answer.read()


def children(pid):
    """Returns the processes that a process has started, and theirs, the youngest first."""
    listing = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    found = []
    for child in map(int, listing.stdout.split()):
        found = [*children(child), child, *found]
    return found


# moto says of every multipart upload that it was begun in 2010, and what is ours is told by the time.
MOTO = """
import re
import sys
import time

from moto.s3 import models, responses
from moto.server import main

begin = models.FakeMultipart.__init__
listed = responses.S3Response.list_multipart_uploads
began = {}


def begun(self, *arguments, **named):
    begin(self, *arguments, **named)
    began[self.id] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())


def dated(self):
    status, fields, body = listed(self)
    text = body.decode() if isinstance(body, bytes) else body

    def date(upload):
        identity = re.search("<UploadId>(.*?)</UploadId>", upload[0])[1]
        return re.sub("<Initiated>.*?</Initiated>", f"<Initiated>{began[identity]}</Initiated>", upload[0])

    return status, fields, re.sub("<Upload>.*?</Upload>", date, text, flags=re.DOTALL)


models.FakeMultipart.__init__ = begun
responses.S3Response.list_multipart_uploads = dated
sys.exit(main())
"""


class Process:
    """A server process, ready once its port is taken."""

    def __init__(self, arguments, folder, port):
        self.arguments, self.home, self.port = [str(argument) for argument in arguments], folder, port
        self.output = folder / "output.log"
        self.start()

    def start(self):
        """Starts it, also again after its end: on the same port, with the files that it had."""
        with open(self.output, "ab") as log:
            self.process = subprocess.Popen(
                self.arguments, cwd=self.home, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", HOME=str(self.home)))
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    text = self.output.read_text()[-800:]
                    raise RuntimeError(f"{self.arguments[0]} doesn't start: {text}") from None
                # Another process's start: there is no event to wait for.
                time.sleep(0.02)

    def signal_all(self, number):
        """Signals it and the processes that it has started, these first."""
        for pid in [*children(self.process.pid), self.process.pid]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        self.signal_all(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Nginx(Process):
    """Downloads with ranges, and PUT through its WebDAV module."""

    def __init__(self, folder):
        binary = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        if not binary:
            raise RuntimeError("nginx isn't installed; `make setup` installs it")
        folder.mkdir(parents=True)
        self.root = folder / "root"
        self.root.mkdir()
        port = free_port()
        parts = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        paths = " ".join(f"{part}_temp_path {folder}/{part};" for part in parts)
        (folder / "nginx.conf").write_text(f"""
            daemon off; {"user root;" if os.geteuid() == 0 else ""} worker_processes 1;
            pid {folder}/nginx.pid; error_log {folder}/error.log;
            events {{ worker_connections 1024; }}
            http {{
                {paths}
                log_format torture "$request_method $uri $status $http_range"; access_log {folder}/access.log torture;
                client_max_body_size 0; default_type application/octet-stream; types {{ }}
                server {{
                    listen 127.0.0.1:{port}; root {self.root};
                    location / {{ dav_methods PUT DELETE MKCOL; create_full_put_path on; limit_rate 60m; }}
                    location = /connections {{ stub_status; access_log off; }}
                }}
            }}""")
        super().__init__([binary, "-p", folder, "-c", folder / "nginx.conf"], folder, port)
        self.folder = folder

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def wait_until_quiet(self, limit=20):
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            if fetch(self.url("/connections")).startswith(b"Active connections: 1 "):
                return True
            # nginx does not report when it has noticed that a client is gone.
            time.sleep(0.005)
        return False

    def log(self, method, path):
        """Returns the status and the start of the range of each request, in the order of their ends."""
        found = []
        for line in (self.folder / "access.log").read_text().splitlines():
            of, uri, status, asked = line.split(" ", 3)
            if of == method and uri == path:
                start = re.match(r"bytes=(\d+)-", asked)
                found.append((int(start[1]) if start else 0, int(status)))
        return found


class Tus(Process):
    def __init__(self, folder):
        folder.mkdir(parents=True)
        self.files = folder / "files"
        (folder / "server.py").write_text(
            "from fastapi import FastAPI\nfrom tuspyserver import create_tus_router\napp = FastAPI()\n"
            f"app.include_router(create_tus_router(prefix='files', files_dir={str(self.files)!r}))\n")
        port = free_port()
        super().__init__(
            [PYTHON, "-m", "uvicorn", "server:app", "--port", port, "--no-access-log", "--log-level", "error"], folder,
            port)

    @property
    def target(self):
        return f"http://127.0.0.1:{self.port}/files/"

    def whole(self, name):
        """Returns the files of complete uploads of this name."""
        found = []
        for info in self.files.glob("*.info"):
            about = json.loads(info.read_text() or "{}")
            file = info.with_suffix("")
            if about.get("metadata", {}).get("filename") == name and file.stat().st_size == about["size"]:
                found.append(file)
        return found


class RcloneS3(Process):
    """Objects are files, so that they outlive the server; uploads in parts are in its memory, and don't."""

    def __init__(self, folder):
        self.root = folder / "root"
        (self.root / "bucket").mkdir(parents=True)
        port = free_port()
        super().__init__(
            [PYTHON.with_name("rclone"), "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", "access,secret",
             "--config", folder / "none", self.root], folder, port)

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"


class S3(Process):
    def __init__(self, folder):
        folder.mkdir(parents=True)
        (folder / "server.py").write_text(MOTO)
        port = free_port()
        super().__init__([PYTHON, "server.py", "-H", "127.0.0.1", "-p", port], folder, port)
        fetch(self.url("/bucket"), "PUT")

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def content(self, key):
        """Returns the object's bytes; `None` where there is none."""
        # moto requires a signature, but does not verify it.
        scope = "Credential=a/20250101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
        try:
            return fetch(self.url(f"/bucket/{key}"), fields={"Authorization": f"AWS4-HMAC-SHA256 {scope}"})
        except urllib.error.HTTPError as refusal:
            if refusal.code == 404:
                return None
            raise

    def keep_versions(self):
        body = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
        request = urllib.request.Request(self.url("/bucket?versioning"), data=body, method="PUT",
                                         headers={"Content-Type": "application/xml"})
        urllib.request.urlopen(request, timeout=30).close()

    def versions(self):
        """Returns how often each key became an object, where versions are kept."""
        listing = fetch(self.url("/bucket?versions&max-keys=1000000"), limit=300).decode()
        return collections.Counter(re.findall(r"<Version>.*?<Key>([^<]*)</Key>", listing, flags=re.DOTALL))

    def unfinished(self, prefix):
        """Returns how many multipart uploads of keys beneath `prefix` were begun and aren't over."""
        listing = fetch(self.url("/bucket?uploads")).decode()
        return len(re.findall(rf"<Key>{re.escape(prefix)}[^<]*</Key>", listing))
