#!/usr/bin/env python3
"""Two network namespaces that are joined by an emulated link, for tests and benchmarks; see README.md.

As a program: lab.py [KEY=VALUE...] [--client-congestion NAME] [--server-congestion NAME] -- COMMAND [ARGUMENT...]
runs COMMAND with the names of the namespaces in WAN_CLIENT and WAN_SERVER, the control socket in WAN_CONTROL and the
program in WAN_LINK; addresses are in WAN_CLIENT_ADDRESS and WAN_SERVER_ADDRESS. Needs root, /dev/net/tun and gcc.
"""
import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENT_ADDRESS, SERVER_ADDRESS = "10.77.0.2", "10.77.0.1"
CLIENT_ADDRESS6, SERVER_ADDRESS6 = "fd77::2", "fd77::1"
os.environ["PATH"] += ":/usr/sbin:/sbin"


def missing():
    """What this machine lacks for a lab, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    for program in ("ip", "gcc"):
        if program == "gcc" and os.environ.get("WAN_LINK"):
            continue
        if not shutil.which(program):
            return f"{program} is not installed"
    return None


def build(folder):
    """The link's program; WAN_LINK names one that is built already."""
    if given := os.environ.get("WAN_LINK"):
        return given
    program = os.path.join(folder, "link")
    sources = [os.path.join(HERE, name) for name in sorted(os.listdir(HERE)) if name.endswith(".c")]
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-o", program, *sources], check=True)
    return program


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Lab:
    """Namespaces, the link between them, and the processes that were started in them; all end with the context."""

    def __init__(self, client_congestion=None, server_congestion="cubic", seed=1, mtu=1500, **figures):
        """`figures` are the link's keys, with `_` for the dot: `delay=50, loss=1, up_rate=10, down_rate=100`."""
        self.words = [f"seed={seed}"] + [f"{key.replace('_', '.')}={value}" for key, value in figures.items()]
        self.congestion = {"client": client_congestion, "server": server_congestion}
        self.mtu = mtu
        self.processes = []
        self.namespaces = []
        self.link = None

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="wan.")
        try:
            self._build()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _build(self):
        name = f"wan-{os.getpid()}-{os.path.basename(self.folder)[4:]}"
        self.client, self.server = name + "-c", name + "-s"
        for namespace in (self.client, self.server):
            ip("netns", "add", namespace)
            self.namespaces.append(namespace)
            ip("-n", namespace, "link", "set", "lo", "up")
        self.control = os.path.join(self.folder, "control")
        self.program = build(self.folder)
        self.link = subprocess.Popen(
            [self.program, self.client, self.server, self.control, *self.words], stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: os.nice(-10))
        if self.link.stdout.readline() != "ready\n":
            raise RuntimeError("the link did not start")
        sides = (
            ("client", self.client, CLIENT_ADDRESS, SERVER_ADDRESS, CLIENT_ADDRESS6, SERVER_ADDRESS6),
            ("server", self.server, SERVER_ADDRESS, CLIENT_ADDRESS, SERVER_ADDRESS6, CLIENT_ADDRESS6),
        )
        for side, namespace, own, peer, own6, peer6 in sides:
            ip("-n", namespace, "link", "set", "wan0", "mtu", str(self.mtu))
            ip("-n", namespace, "address", "add", own, "peer", peer + "/32", "dev", "wan0")
            ip("-n", namespace, "address", "add", own6, "peer", peer6 + "/128", "dev", "wan0", "nodad")
            ip("-n", namespace, "link", "set", "wan0", "up")
            control = ["congctl", self.congestion[side]] if self.congestion[side] else []
            ip("-n", namespace, "route", "replace", peer, "dev", "wan0", "src", own, *control)
        ip("-n", self.client, "route", "add", "default", "dev", "wan0")
        ip("-n", self.client, "-6", "route", "add", "default", "dev", "wan0")

    def tell(self, command):
        """Sends a command to the link; returns its answer."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.control)
            connection.sendall(command.encode() + b"\n")
            answer = connection.makefile().readline().strip()
        if answer.startswith("error"):
            raise ValueError(f"{command}: {answer}")
        return answer

    def counts(self):
        return json.loads(self.tell("counts"))

    def hole(self, direction=""):
        """Packets vanish: of both directions, of `up` or of `down`."""
        self.tell(f"{direction}.state=hole" if direction else "state=hole")

    def restore(self):
        self.tell("state=passing")

    def command(self, side, words):
        """The command that runs `words` in a namespace, `client` or `server`."""
        return ["ip", "netns", "exec", self.client if side == "client" else self.server, *words]

    def start(self, side, words, **options):
        """Starts a process in a namespace; it ends with the lab."""
        process = subprocess.Popen(self.command(side, words), start_new_session=True, **options)
        self.processes.append(process)
        return process

    def run(self, side, words, **options):
        return subprocess.run(self.command(side, words), **options)

    def setting(self, side, name, value):
        """A sysctl of a namespace, for example `net/ipv4/tcp_rmem`."""
        self.run(side, ["sh", "-c", f"echo '{value}' >/proc/sys/{name}"], check=True)

    def end(self, process):
        """Ends a process that `start` made, with its children."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()

    def close(self):
        for process in reversed(self.processes):
            self.end(process)
        if self.link:
            self.link.terminate()
            self.link.wait()
        for namespace in self.namespaces:
            subprocess.run(["ip", "netns", "del", namespace], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n", 3)[2])
    parser.add_argument("--client-congestion")
    parser.add_argument("--server-congestion", default="cubic")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--mtu", default=1500, type=int)
    split = sys.argv.index("--") if "--" in sys.argv else parser.error("a command follows after --")
    options, figures = parser.parse_known_args(sys.argv[1:split])
    if lack := missing():
        sys.exit(f"lab: {lack}")
    if wrong := [word for word in figures if "=" not in word]:
        parser.error(f"{wrong[0]} is not KEY=VALUE")
    figures = {key.replace(".", "_"): value for key, value in (word.split("=", 1) for word in figures)}
    with Lab(options.client_congestion, options.server_congestion, options.seed, options.mtu, **figures) as lab:
        names = {
            "WAN_CLIENT": lab.client, "WAN_SERVER": lab.server, "WAN_CONTROL": lab.control, "WAN_LINK": lab.program,
            "WAN_CLIENT_ADDRESS": CLIENT_ADDRESS, "WAN_SERVER_ADDRESS": SERVER_ADDRESS,
        }
        sys.exit(subprocess.run(sys.argv[split + 1:], env={**os.environ, **names}).returncode)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
