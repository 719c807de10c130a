"""Servers in the namespace behind the link: nginx, sshd, and with Debian's or PyPI's packages FTP, tus and S3."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from lab import SERVER_ADDRESS

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/torture"))
sys.dont_write_bytecode = True
import fileservers  # noqa: E402
import peers  # noqa: E402

PORTS = {"http": 80, "https": 443, "h2": 444, "ftp": 21, "sftp": 22, "tus": 1080, "s3": 9000}


PORTAL = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        page = b"<html><title>Log in to the network</title></html>"
        redirects = sys.argv[2] == "redirect" and self.path != "/login"
        self.send_response(302 if redirects else 200)
        if redirects:
            self.send_header("Location", f"http://{sys.argv[1]}/login")
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    do_PUT = do_POST = do_HEAD = do_GET


HTTPServer((sys.argv[1], 80), Handler).serve_forever()
"""

# Answers every question for an address with the server's, after some seconds.
NAMES = """
import socket, sys, threading, time

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind((sys.argv[1], 53))


def answer(question, peer):
    time.sleep(float(sys.argv[2]))
    end = question.index(0, 12) + 5
    is_address = question[end - 3] == 1
    head = question[:2] + bytes([0x81, 0x80, 0, 1, 0, is_address, 0, 0, 0, 0]) + question[12:end]
    record = bytes([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]) + socket.inet_aton(sys.argv[1])
    server.sendto(head + (record if is_address else b""), peer)


while True:
    threading.Thread(target=answer, args=server.recvfrom(512), daemon=True).start()
"""


class Servers:
    """Files are in `root`, which every server shows; what nginx answered is in `requests`."""

    def __init__(self, lab, folder):
        self.lab, self.folder = lab, Path(folder)
        self.root = self.folder / "root"
        self.root.mkdir(parents=True)
        self.members, self.processes = {}, {}

    def start(self, kind):
        getattr(self, f"start_{'nginx' if kind in ('http', 'https', 'h2') else kind}")()

    def wait(self, port, process):
        """Waits in the server's namespace until the port is taken."""
        probe = f"import socket; socket.create_connection(('{SERVER_ADDRESS}', {port}), 1)"
        deadline = time.monotonic() + 60
        while self.lab.run("server", [sys.executable, "-S", "-c", probe], stderr=subprocess.DEVNULL).returncode:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"no server at port {port}: {(self.folder / 'output.log').read_text()[-800:]}")
            # Another process's start: there is no event to wait for.
            time.sleep(0.05)

    def launch(self, words, port, folder=None):
        with open(self.folder / "output.log", "ab") as log:
            process = self.lab.start(
                "server", [str(word) for word in words], cwd=folder or self.folder, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env=dict(os.environ, HOME=str(self.folder), PYTHONDONTWRITEBYTECODE="1"))
        self.wait(port, process)
        return process

    def start_nginx(self):
        folder = self.folder / "nginx"
        if folder.exists():
            return
        folder.mkdir()
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
             "30", "-subj", "/CN=test", "-addext", f"subjectAltName=IP:{SERVER_ADDRESS},DNS:server.test", "-keyout",
             folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)
        self.authority = folder / "cert.pem"
        parts = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        paths = " ".join(f"{part}_temp_path {folder}/{part};" for part in parts)
        listen = " ".join(f"listen {SERVER_ADDRESS}:{port}{how};" for port, how in (
            (80, ""), (443, " ssl"), (444, " ssl http2")))
        (folder / "nginx.conf").write_text(f"""
            daemon off; user root; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
            events {{ worker_connections 1024; }}
            http {{
                {paths}
                log_format plain "$request_method $uri $status $body_bytes_sent $http_range";
                access_log {folder}/access.log plain;
                client_max_body_size 0; default_type application/octet-stream; types {{ }}
                keepalive_timeout 300; client_body_timeout 300; send_timeout 300;
                ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
                server {{ {listen} root {self.root};
                    location / {{ dav_methods PUT DELETE MKCOL; create_full_put_path on; }} }}
            }}""")
        self.processes["nginx"] = self.launch(
            [shutil.which("nginx"), "-p", folder, "-c", folder / "nginx.conf"], 80)

    def start_portal(self, how):
        """Takes nginx's place: every request is answered with a page, or with a redirect to it."""
        self.lab.end(self.processes["nginx"])
        (self.folder / "portal.py").write_text(PORTAL)
        self.processes["portal"] = self.launch([sys.executable, "portal.py", SERVER_ADDRESS, how], 80)

    def end_portal(self):
        self.lab.end(self.processes["portal"])
        folder = self.folder / "nginx"
        self.processes["nginx"] = self.launch(
            [shutil.which("nginx"), "-p", folder, "-c", folder / "nginx.conf"], 80)

    def start_names(self, delay):
        """Returns the command before which a program is put whose names this server answers."""
        (self.folder / "names.py").write_text(NAMES)
        (self.folder / "resolv.conf").write_text(f"nameserver {SERVER_ADDRESS}\n")
        self.lab.start("server", [sys.executable, str(self.folder / "names.py"), SERVER_ADDRESS, str(delay)])
        # `ip netns exec` gives each program a mount namespace of its own.
        bind = f'mount --bind "{self.folder}/resolv.conf" /etc/resolv.conf && exec "$@"'
        return ["sh", "-c", bind, "sh"]

    def requests(self):
        """Returns method, path, status, bytes of the body and range of each request that is over."""
        lines = (self.folder / "nginx/access.log").read_text().splitlines()
        return [tuple(line.split(" ", 4)) for line in lines]

    def start_ftp(self):
        program = fileservers.FTP_SERVER.replace("127.0.0.1", SERVER_ADDRESS)
        (self.folder / "ftp.py").write_text(program)
        self.launch([fileservers.SYSTEM_PYTHON, "-W", "ignore", "ftp.py", self.root, 21], 21)

    def start_sftp(self):
        folder = self.folder / "ssh"
        folder.mkdir()
        fileservers.ssh_folder(folder, SERVER_ADDRESS, PORTS["sftp"])
        self.launch([fileservers.SSHD, "-D", "-f", folder / "sshd_config", "-E", folder / "log"], 22)
        (folder / "known_hosts").write_text(f"{SERVER_ADDRESS} {(folder / 'host_key.pub').read_text()}")
        self.known_hosts, self.user_key = folder / "known_hosts", folder / "user_key"

    def start_tus(self):
        (self.folder / "tus.py").write_text(
            "from fastapi import FastAPI\nfrom tuspyserver import create_tus_router\napp = FastAPI()\n"
            f"app.include_router(create_tus_router(prefix='files', files_dir={str(self.folder / 'tus')!r}))\n")
        place = ["--host", SERVER_ADDRESS, "--port", 1080]
        self.launch([peers.PYTHON, "-m", "uvicorn", "tus:app", *place, "--no-access-log"], 1080)

    def start_s3(self):
        (self.folder / "s3.py").write_text(peers.MOTO)
        self.launch([peers.PYTHON, "s3.py", "-H", SERVER_ADDRESS, "-p", 9000], 9000)
        make = f"import urllib.request as r; r.urlopen(r.Request('http://{SERVER_ADDRESS}:9000/bucket', method='PUT'))"
        self.lab.run("server", [sys.executable, "-c", make], check=True)

    def get_from_s3(self, key, to):
        scope = "Credential=a/20250101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
        self.lab.run("server", [
            "curl", "-sf", "-H", f"Authorization: AWS4-HMAC-SHA256 {scope}", "-o", str(to),
            f"http://{SERVER_ADDRESS}:9000/bucket/{key}"], check=True)
