"""Servers of files of other people's making: pyftpdlib, and OpenSSH's sshd, which offers SFTP alone (Debian's packages
python3-pyftpdlib and openssh-server; `make setup` installs them)."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from peers import Process, free_port

# Debian's own Python has Debian's packages.
SYSTEM_PYTHON = "/usr/bin/python3"
SSHD = "/usr/sbin/sshd"

FTP_SERVER = """
import sys
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import DTPHandler, FTPHandler
from pyftpdlib.servers import FTPServer

root, port = sys.argv[1], int(sys.argv[2])
log = open("log", "a", buffering=1)


class Data(DTPHandler):
    # One piece at a time would hide how far a client has come.
    ac_out_buffer_size = ac_in_buffer_size = 65536


class Handler(FTPHandler):
    dtp_handler = Data
    tcp_no_delay = True

    def say(self, word, path, more=0):
        log.write(f"{word} {more} /{path[len(root):].lstrip('/')}\\n")

    def ftp_RETR(self, file):
        self.say("RETR", file, self._restart_position)
        return super().ftp_RETR(file)

    def on_file_received(self, file):
        self.say("RECEIVED", file)

    def ftp_RNTO(self, path):
        named = super().ftp_RNTO(path)
        self.say("NAMED", path)
        return named


authorizer = DummyAuthorizer()
authorizer.add_anonymous(root, perm="elradfmwMT")
Handler.authorizer = authorizer
server = FTPServer(("127.0.0.1", port), Handler)
server.max_cons = 512
server.serve_forever(timeout=0.02, handle_exit=False)
"""


def has_ftp():
    if not os.access(SYSTEM_PYTHON, os.X_OK):
        return False
    return subprocess.run([SYSTEM_PYTHON, "-c", "import pyftpdlib"], capture_output=True, check=False).returncode == 0


def has_ssh():
    return os.access(SSHD, os.X_OK) and shutil.which("ssh-keygen") is not None


class Files:
    """The common part of both: a served folder, with a folder for each scenario."""

    root: Path

    def file(self, path):
        return self.root / path.lstrip("/")

    def wait_until(self, is_so, limit=20):
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            if is_so():
                return True
            # Neither server reports when it has noticed that a client is gone.
            time.sleep(0.005)
        return False


class FTP(Process, Files):
    def __init__(self, folder):
        folder.mkdir(parents=True)
        self.root = folder / "root"
        self.root.mkdir()
        (folder / "server.py").write_text(FTP_SERVER)
        self.folder = folder
        port = free_port()
        super().__init__([SYSTEM_PYTHON, "-W", "ignore", "server.py", self.root, port], folder, port)

    def url(self, path):
        return f"ftp://127.0.0.1:{self.port}{path}"

    members = {"ftp": {"requireTLS": False}}

    def events(self, path):
        """Returns what was done with the file: a word and a number each, in order."""
        found = []
        for line in (self.folder / "log").read_text().splitlines():
            word, number, of = line.split(" ", 2)
            if of == path:
                found.append((word, int(number)))
        return found

    def reads(self, path):
        """Returns where each read of the file began; as a range does, for a server of HTTP."""
        return [(number, 206) for word, number in self.events(path) if word == "RETR"]

    def times_stored(self, path):
        return sum(word in ("NAMED", "RECEIVED") for word, _ in self.events(path))

    def is_quiet(self):
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            _, local, _, state = line.split()[:4]
            # Between SYN and the last byte from its client, or closed by the client alone (the states of tcp(7)).
            if local.endswith(f":{self.port:04X}") and state in ("01", "03", "08"):
                return False
        return True

    def wait_until_quiet(self):
        return self.wait_until(self.is_quiet)


def ssh_folder(folder, address, port, more=""):
    """Makes keys and a configuration of sshd for one user, who comes with `user_key`."""
    for name in ("host_key", "user_key"):
        arguments = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "torture", "-f", str(folder / name)]
        subprocess.run(arguments, check=True)
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    if os.geteuid() == 0:
        # sshd looks for its unprivileged half's folder, which the system's unit makes otherwise.
        Path("/run/sshd").mkdir(parents=True, exist_ok=True)
    (folder / "sshd_config").write_text(f"""
Port {port}
ListenAddress {address}
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile {folder}/authorized_keys
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
MaxStartups 100:30:200
Subsystem sftp internal-sftp
{more}""")


class SSH(Process, Files):
    def __init__(self, folder):
        folder.mkdir(parents=True)
        self.root = folder / "root"
        self.root.mkdir()
        port = free_port()
        self.log = folder / "log"
        ssh_folder(folder, "127.0.0.1", port, "ForceCommand internal-sftp -l INFO\nLogLevel VERBOSE\n")
        super().__init__([SSHD, "-D", "-f", folder / "sshd_config", "-E", self.log], folder, port)
        host = (folder / "host_key.pub").read_text()
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {host}")
        self.members = {
            "ssh": {"knownHosts": str(folder / "known_hosts"), "key": str(folder / "user_key"), "agent": False}}

    def url(self, path):
        return f"sftp://127.0.0.1:{self.port}{self.root}{path}"

    def reads(self, path):
        """SFTP's reads have offsets, but sshd does not log them."""
        return []

    def times_stored(self, path):
        """Returns how often the file got its name, or was written under it."""
        file = re.escape(str(self.file(path)))
        text = self.log.read_text(errors="replace")
        named = re.findall(rf'rename old "[^"]*" new "{file}"', text)
        written = re.findall(rf'(?<!forced )close "{file}" bytes read 0 written [1-9]', text)
        return len(named) + len(written)

    def sessions(self):
        listing = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True, check=False)
        return len(listing.stdout.split())

    def wait_until_quiet(self):
        return self.wait_until(lambda: self.sessions() == 0)

    def stop(self):
        # Those that serve a connection first.
        for pid in subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True, check=False
        ).stdout.split():
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass
        super().stop()
