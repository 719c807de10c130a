"""A database, a server and workers that can be killed, stopped and cut off, on one machine.

As root each worker is in a network namespace of its own, and a partition loses every packet: of the worker's link, or those
that come from the database or from the server alone. Else all of them share this machine's loopback, and nobody is cut off.
"""

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time

# Of this process alone: several such runs may go on at the same time.
BRIDGE = f"tf{os.getpid()}"
NET = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}"


def run(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


class Network:
    """A bridge with one namespace for each worker."""

    def __init__(self, count):
        self.names = [f"{BRIDGE}w{number}" for number in range(count)] if os.geteuid() == 0 else []
        self.host = f"{NET}.1" if self.names else "127.0.0.1"
        # The address of the server that jobs ask.
        self.server_host = f"{NET}.2" if self.names else "127.0.0.1"
        self.close()
        if not self.names:
            return
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        for host in (self.host, self.server_host):
            run("ip", "addr", "add", f"{host}/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for number, name in enumerate(self.names):
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"{name}h", "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "link", "set", f"{name}h", "master", BRIDGE, "up")
            run("ip", "-n", name, "addr", "add", f"{NET}.{10 + number}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")

    def inside(self, number):
        """The words before a command that runs in a worker's namespace."""
        return ["ip", "netns", "exec", self.names[number]] if self.names else []

    # The sides that a worker can be cut off from.
    SIDES = ("everything", "the database", "the server")

    def cut(self, number, side, is_cut):
        # The worker's own link stays up, so no event reports the loss of packets.
        if side == "everything":
            run("ip", "link", "set", f"{self.names[number]}h", "nomaster" if is_cut else "master",
                *([] if is_cut else [BRIDGE]))
            return
        host = self.host if side == "the database" else self.server_host
        run("ip", "rule", "add" if is_cut else "del", *self.rule(number, host))

    @staticmethod
    def rule(number, host):
        """Drops the answers of a host to a worker."""
        return ["from", host, "to", f"{NET}.{10 + number}", "blackhole"]

    def close(self):
        for number, host in ((number, host) for number in range(len(self.names)) for host in (self.host, self.server_host)):
            run("ip", "rule", "del", *self.rule(number, host), check=False)
        for name in self.names:
            run("ip", "netns", "del", name, check=False)
            run("ip", "link", "del", f"{name}h", check=False)
        run("ip", "link", "del", BRIDGE, check=False)


class Database:
    """A PostgreSQL server in a folder of its own."""

    def __init__(self, folder, host, follows=None):
        """Makes a server; with `follows`, a standby of that server."""
        self.folder, self.host = folder, host
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[-2]))[-1]
        # Held: a socket that is bound and doesn't listen keeps the port from everybody but a server that reuses addresses.
        self.held = socket.socket()
        self.held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.held.bind((host, 0))
        self.port = self.held.getsockname()[1]
        os.makedirs(folder)
        self.user = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
            self.user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        if follows:
            self.copy(follows)
            return
        run(*self.user, f"{self.programs}/initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "transfer", "-E", "UTF8",
            "--locale=C", "--no-sync")
        with open(f"{folder}/data/pg_hba.conf", "a", encoding="utf-8") as file:
            file.write(f"host all all {NET}.0/24 trust\n")
        self.start()

    def copy(self, server):
        """Begins anew as a standby of a server."""
        shutil.rmtree(f"{self.folder}/data", ignore_errors=True)
        run(*self.user, f"{self.programs}/pg_basebackup", "-D", f"{self.folder}/data", "-R", "-X", "stream", "-c", "fast",
            "-h", server.folder, "-p", str(server.port), "-U", "transfer")
        # A standby that waited for one of its own would take no changes after its promotion.
        with open(f"{self.folder}/data/postgresql.auto.conf", "a", encoding="utf-8") as file:
            file.write("synchronous_standby_names = ''\n")
        self.start()

    def url(self, queue):
        return f"postgres://transfer@{self.host}:{self.port}/postgres?queue={queue}&sslmode=disable"

    def start(self):
        while True:
            with open(f"{self.folder}/log", "a", encoding="utf-8") as log:
                self.process = subprocess.Popen(
                    [*self.user, f"{self.programs}/postgres", "-D", f"{self.folder}/data", "-k", self.folder, "-p",
                     str(self.port), "-c", f"listen_addresses={self.host}", "-c", "fsync=off", "-c", "max_connections=100"],
                    stdout=log, stderr=log)
            for _ in range(200):
                if self.process.poll() is not None:
                    break
                if run(f"{self.programs}/pg_isready", "-h", self.folder, "-p", str(self.port), check=False).returncode == 0:
                    return
                # Another program's start has no event for this one.
                time.sleep(0.05)
            self.kill()

    @property
    def is_running(self):
        return self.process.poll() is None

    def kill(self, everything=False):
        """As a crash ends it: its children go when they find that it's gone, or at once with `everything`."""
        others = children(self.process.pid) if everything and self.is_running else []
        self.process.kill()
        for pid in others:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()
        try:
            os.unlink(f"{self.folder}/data/postmaster.pid")
        except FileNotFoundError:
            pass

    def ask(self, sql):
        """Rows of columns, as texts."""
        words = [f"{self.programs}/psql", "-h", self.folder, "-p", str(self.port), "-U", "transfer", "-d", "postgres",
                 "-AtF", "\t", "-v", "ON_ERROR_STOP=1", "-c", sql]
        return [line.split("\t") for line in run(*words).stdout.splitlines()]

    def processor_time(self):
        """Seconds that all of its processes have used since they began, the ended ones included."""
        ticks = 0
        for pid in [self.process.pid, *children(self.process.pid)]:
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                    fields = file.read().rsplit(") ", 1)[1].split()
            except FileNotFoundError:
                continue
            ticks += int(fields[11]) + int(fields[12])
            if pid == self.process.pid:
                ticks += int(fields[13]) + int(fields[14])
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]


class Worker:
    """`transfer work`, which is started anew whenever it's gone, as a machine's manager does."""

    def __init__(self, words, network, number, folder, log, more=None):
        self.words, self.network, self.number, self.folder, self.log = words, network, number, folder, log
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8", **(more or {})}
        os.makedirs(folder, exist_ok=True)
        self.start()

    def start(self):
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*self.network.inside(self.number), *self.words, "-d", self.folder], cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env=self.environment)

    @property
    def is_running(self):
        return self.process.poll() is None

    def signal(self, number):
        if self.is_running:
            self.process.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Returns the exit status of an end that was asked for."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
            return None


def report(head, happened, wrong, kinds, folder, keep=False):
    """Prints what happened and what went wrong, and removes the folder if nothing did. Returns the exit status."""
    print(f"{head}: " + ", ".join(f"{count} {what}" for what, count in sorted(happened.items())))
    for what in kinds:
        print(f"  {what}: {len(wrong[what])}" + "".join(f"\n    {line}" for line in wrong[what][:10]))
    if any(wrong.values()):
        print(f"the logs are in {folder}")
        return 1
    if not keep:
        remove(folder)
    return 0


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
