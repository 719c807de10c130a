"""Watches folders for an hour while everything is killed, and judges what came of each file.

Three writers make, rewrite, rename and finish files in six watched folders: PUT, POST, tus, FTP, SFTP and S3, with files that
are deleted or moved once they have arrived, and with commands and webhooks that are told of each end. Servers and watchers are killed with
-9 and stopped, at moments that the seed says. Then comes a quiet time, in which all that is left has to happen by itself.
The exit status is 0 if nothing is lost, wrong, sent twice without a word, left behind or untold.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import fileservers
import peers
from soak_judge import Judge
from soak_writers import Books, Writer

ROOT = peers.ROOT
# What one watcher does, and what it says of ends.
RETRY = {"scale": "300ms", "maxDelay": "4s"}
ATOMIC = ["by_rename", "by_rename", "anew", "renamed"]
ALL = [*ATOMIC, "slowly", "slowly", "rewritten", "appended"]
TOLD = """#!/bin/sh
# Every 20th says that it didn't take the message.
message=$(cat)
[ $(($$ % 20)) = 0 ] && exit 1
printf '%s\\n' "$message" >> {record}
"""


class InboxProcess(peers.Process):
    """Each start draws another fate for its requests."""

    def __init__(self, folder, seed):
        folder.mkdir()
        self.seed = seed
        port = peers.free_port()
        script = Path(__file__).with_name("soak_inbox.py")
        super().__init__([sys.executable, "-W", "ignore", script, folder, port, seed], folder, port)

    def start(self):
        self.seed += 1
        self.arguments[-1] = str(self.seed)
        super().start()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"


class Folder:
    """A watched folder: where its files go, what becomes of them, and how they come."""

    def __init__(self, root, name, ways, to, then, **members):
        self.name, self.ways, self.path = name, ways, root / "watched" / name
        self.path.mkdir(parents=True)
        self.moved = Path(then["move"]) if isinstance(then, dict) else None
        if self.moved:
            self.moved.mkdir(parents=True)
        self.entry = {
            "folder": str(self.path), "to": to, "then": then, "settle": "500ms", "timeout": "10s",
            "connectTimeout": "5s", **members,
        }


class Watcher:
    """A process that watches some of the folders, in a state of its own; what each start says is a file of its own."""

    def __init__(self, binary, root, name, folders, hook):
        self.binary, self.name, self.folders, self.hook = binary, name, folders, hook
        self.folder = root / name
        self.folder.mkdir()
        (self.folder / "tmp").mkdir()
        entries = [folder.entry for folder in folders]
        jobs = {"version": 1, "name": name, "defaults": {"retry": RETRY}, "watch": entries}
        (self.folder / "jobs.json").write_text(json.dumps(jobs, indent=1))
        self.starts = 0

    def environment(self):
        return {
            "PATH": os.environ.get("PATH", ""), "HOME": str(self.folder), "LANG": "C.UTF-8", "TZ": "UTC",
            "TMPDIR": str(self.folder / "tmp"), "TRANSFER_STATE": str(self.folder / "state"),
        }

    def start(self):
        self.starts += 1
        command = [self.binary, "run", "jobs.json", "--json", "--on-finish", f"told={self.hook}"]
        with open(self.folder / f"out-{self.starts}.jsonl", "wb") as output:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL, stdout=output,
                stderr=output)

    def signal_all(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends it in order. Returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            return "no end within 60 s"

    def ask(self, *arguments):
        answer = subprocess.run(
            [self.binary, *arguments], cwd=self.folder, env=self.environment(), capture_output=True, text=True,
            timeout=120, check=False)
        return answer.stdout + answer.stderr

    def outputs(self):
        for number in range(1, self.starts + 1):
            yield (self.folder / f"out-{number}.jsonl").read_text(errors="replace")


class Trouble(threading.Thread):
    """Kills and stops one process again and again, until it's told to end; leaves it up."""

    def __init__(self, name, process, seed, apart, down, faults):
        super().__init__(name=name, daemon=True)
        self.process, self.chance = process, random.Random(seed)
        self.apart, self.down, self.faults = apart, down, faults
        self.over = threading.Event()
        self.kills = self.stops = 0

    def run(self):
        while not self.over.wait(self.chance.uniform(*self.apart)):
            if isinstance(self.process, Watcher) and self.process.process.poll() is not None:
                self.faults.append(("lost", f"{self.name} ended by itself with {self.process.process.returncode}"))
                self.process.start()
                continue
            fate = self.chance.random()
            if fate < 0.65:
                self.process.kill()
                self.kills += 1
                self.over.wait(self.chance.choice([0, 0, 1, self.chance.uniform(*self.down)]))
                self.process.start()
            elif fate < 0.8 and isinstance(self.process, Watcher):
                code = self.process.stop()
                if code not in (0, -signal.SIGTERM):
                    self.faults.append(("lost", f"{self.name} was stopped in order and ended with {code}"))
                self.process.start()
            else:
                self.process.signal_all(signal.SIGSTOP)
                self.stops += 1
                self.over.wait(self.chance.uniform(1, 2 * self.down[1]))
                self.process.signal_all(signal.SIGCONT)

    def end(self):
        self.over.set()
        self.join()


class Soak:
    def __init__(self, options, root, far):
        self.options, self.root = options, root
        self.books = Books(root / "written.jsonl")
        self.faults = []
        chance = random.Random(options.seed)
        self.draw = lambda: chance.randrange(1 << 30)
        self.inbox = InboxProcess(root / "inbox", self.draw())
        self.hooks = InboxProcess(root / "hooks", self.draw())
        self.servers = {"inbox": self.inbox, "hooks": self.hooks}
        folders = self.make_folders(far)
        self.told = root / "told.jsonl"
        hook = root / "told"
        hook.write_text(TOLD.format(record=self.told))
        hook.chmod(0o755)
        names = [name for name in ("put", "post", "tus") if name in folders], [
            name for name in ("ftp", "sftp", "s3") if name in folders]
        self.folders = folders
        binary = str(Path(options.binary).resolve())
        self.watchers = [
            Watcher(binary, root, f"watcher{number}", [folders[name] for name in group], hook)
            for number, group in enumerate(names) if group]

    def make_folders(self, far):
        """Two folders tell a command, and the others a webhook; FTP and S3 have both kinds of writers."""
        webhook = {"onFinish": {"url": self.hooks.url("/hook")}}
        command = {"onFinish": "told"}
        root = self.root
        found = [
            Folder(root, "put", ALL, self.inbox.url("/put/{name}"), "delete", **webhook),
            # What was rewritten while it was sent would be a message that nobody can take back.
            Folder(root, "post", ATOMIC, self.inbox.url("/post/{name}"), {"move": str(root / "sent-post")},
                   protocol="post", **webhook),
        ]
        if peers.are_installed():
            self.tus = self.servers["tus"] = peers.Tus(root / "tus")
            found.append(Folder(root, "tus", ATOMIC + ["slowly"], self.tus.target, {"move": str(far / "sent-tus")},
                                protocol="tus", chunkSize="1M", **webhook))
            self.s3 = self.servers["s3"] = peers.RcloneS3(root / "s3")
            (root / "secret").write_text("secret")
            access = {
                "endpoint": self.s3.url(""), "accessKey": "access", "secretKey": {"file": str(root / "secret")},
                "region": "us-east-1", "style": "path",
            }
            found.append(Folder(root, "s3", ALL, "s3://bucket/in/{name}", "delete", s3=access, chunkSize="5M", **webhook))
        if fileservers.has_ftp():
            self.ftp = self.servers["ftp"] = fileservers.FTP(root / "ftp")
            self.ftp.file("/in").mkdir()
            found.append(Folder(root, "ftp", ALL, self.ftp.url("/in/{name}"), "delete", **command))
        if fileservers.has_ssh():
            self.ssh = self.servers["sftp"] = fileservers.SSH(root / "ssh")
            self.ssh.file("/in").mkdir()
            found.append(Folder(root, "sftp", ALL, self.ssh.url("/in/{name}"), {"move": str(root / "sent-sftp")},
                                **self.ssh.members, **command))
        return {folder.name: folder for folder in found}

    def run(self):
        for watcher in self.watchers:
            watcher.start()
        writers = [
            Writer(f"w{number}", self.draw(), list(self.folders.values()), self.books, self.options.pause)
            for number in range(3)]
        troubles = [Trouble(name, server, self.draw(), (30, 150), (1, 15), self.faults)
                    for name, server in self.servers.items()]
        troubles += [Trouble(watcher.name, watcher, self.draw(), (8, 60), (1, 10), self.faults)
                     for watcher in self.watchers]
        for thread in writers + troubles:
            thread.start()
        end = time.monotonic() + self.options.minutes * 60
        while (left := end - time.monotonic()) > 0:
            # The writers and the killers work: nothing is to be done here but to say how it stands.
            time.sleep(min(60, left))
            kills = sum(trouble.kills for trouble in troubles)
            versions = sum(map(len, self.books.versions.values()))
            print(f"{max(0, left - 60) / 60:.0f} min left: {versions} versions, {kills} kills", flush=True)
        for writer in writers:
            writer.stopped.set()
        for writer in writers:
            writer.join()
            if writer.trouble:
                raise SystemExit(f"soak: a writer stopped: {writer.trouble!r}")
        for trouble in troubles:
            trouble.end()
        self.kills = sum(trouble.kills for trouble in troubles)
        self.stops = sum(trouble.stops for trouble in troubles)

    def judge(self):
        """Waits until all that is expected is there, for the quiet time; then ends the watchers, and judges."""
        judge = Judge(self)
        deadline = time.monotonic() + self.options.quiet
        while judge.open_points() and time.monotonic() < deadline:
            # Third-party servers send no event when a file has arrived.
            time.sleep(2)
        late = judge.open_points()
        if late:
            print(f"after {self.options.quiet} s without trouble: {len(late)} open", flush=True)
            for point in late[:20]:
                print(f"    {point}", flush=True)
            for watcher in self.watchers:
                print(watcher.ask("status"), flush=True)
            judge.asked_again()
        for watcher in self.watchers:
            code = watcher.stop()
            if code != 0:
                judge.fault("lost", f"{watcher.name} ended with {code}")
        return judge.judge()

    def stop(self):
        for watcher in self.watchers:
            if hasattr(watcher, "process") and watcher.process.poll() is None:
                watcher.kill()
        for server in self.servers.values():
            if server.process.poll() is None:
                server.signal_all(signal.SIGCONT)
                server.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(ROOT / ".build/release/transfer"))
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--quiet", type=float, default=300, help="seconds that follow, without trouble")
    parser.add_argument("--pause", type=float, default=2, help="seconds between two files of a writer, on average")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", action="store_true", help="leave the folder where something failed")
    parser.add_argument("--folder", help="where all of it is; a temporary one without it")
    options = parser.parse_args()
    if os.environ.get("TRANSFER_PEERS") == "required" and not (
            peers.are_installed() and fileservers.has_ftp() and fileservers.has_ssh()):
        raise SystemExit("soak: servers are missing; `make peers` installs them")
    print(f"seed {options.seed}", flush=True)
    root = Path(options.folder or tempfile.mkdtemp(prefix="soak-")).resolve()
    root.mkdir(exist_ok=True)
    memory = Path("/dev/shm")
    far = Path(tempfile.mkdtemp(prefix="soak-", dir=memory if memory.is_dir() else None))
    soak = None
    is_good = False
    try:
        soak = Soak(options, root, far)
        soak.run()
        is_good = soak.judge()
    finally:
        if soak:
            soak.stop()
        if is_good or not options.keep:
            shutil.rmtree(root, ignore_errors=True)
            shutil.rmtree(far, ignore_errors=True)
        else:
            print(f"kept: {root} {far}")
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
