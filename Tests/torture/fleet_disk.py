#!/usr/bin/env python3
"""A worker whose queue's database has a full disk, until there is room again. As root, on a file system of its own.

The worker waits and says so, who brings jobs is told, and once there is room every job is done, without a hand.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time

from fleet_copies import Loopback
from fleet_place import Database, Worker, remove, run
from server import Server

JOBS = 4000
QUEUE = "disk"
MESSAGE = "is full"


class Bench:
    def __init__(self, binary):
        self.binary = binary
        self.disk, self.place = (tempfile.mkdtemp(prefix="transfer-disk.") for _ in range(2))
        os.chmod(self.place, 0o755)
        run("mount", "-t", "tmpfs", "-o", "size=200m,mode=755", "none", self.disk)
        self.database, self.worker, self.sums = None, None, {}
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.place, "LANG": "C.UTF-8"}

    def bring(self, name, identity):
        jobs = [{"id": identity(number), "download": self.server.url(f"/{number}"), "to": f"{name}/{number}"}
                for number in range(JOBS)]
        with open(f"{self.place}/{name}.json", "w", encoding="utf-8") as file:
            json.dump({"version": 1, "name": name, "jobs": jobs}, file)
        words = [self.binary, "run", f"{self.place}/{name}.json", "--detach", "--no-config", "--queue", self.queue]
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=60, check=False)

    def done(self):
        (count,), = self.database.ask(f"SELECT count(*) FROM transfer_{QUEUE}.job WHERE state = 5")
        return int(count)

    def go(self):
        """Yields the errors."""
        self.database = Database(f"{self.disk}/database", "127.0.0.1")
        self.queue, self.server = self.database.url(QUEUE), Server("127.0.0.1")
        for number in range(JOBS):
            content = random.Random(number).randbytes(2000)
            self.sums[number] = hashlib.sha256(content).hexdigest()
            self.server.serve(f"/{number}", content)
        brought = self.bring("b", str)
        if brought.returncode != 0:
            yield f"the jobs weren't brought: {brought.stderr}"
            return
        free = os.statvfs(self.disk)
        run("fallocate", "-l", str(max(1, free.f_bavail * free.f_frsize - 8192)), f"{self.disk}/filler")
        self.worker = Worker(
            [self.binary, "work", "--queue", self.queue, "-j", "4", "--lease", "5s", "--allow-private", "--progress", "none",
             "--no-config"], Loopback(), 0, f"{self.place}/w", f"{self.place}/w.log")
        deadline = time.monotonic() + 60
        while MESSAGE not in open(f"{self.place}/w.log", encoding="utf-8").read():
            if time.monotonic() > deadline:
                yield "the worker doesn't say that the disk is full"
                return
            time.sleep(0.05)
        refused = self.bring("c", lambda number: f"c{number}")
        if refused.returncode == 0 or MESSAGE not in refused.stderr:
            yield f"who brings jobs isn't told: {refused}"
        os.unlink(f"{self.disk}/filler")
        begun = time.monotonic()
        while self.done() < JOBS and time.monotonic() - begun < 120:
            time.sleep(0.1)
        print(f"{self.done()} of {JOBS} jobs done {time.monotonic() - begun:.1f} s after there was room")
        if self.done() != JOBS:
            yield "not all jobs were done"
        if not self.worker.is_running:
            yield "the worker ended by itself"
        for number, digest in self.sums.items():
            try:
                with open(f"{self.place}/w/b/{number}", "rb") as file:
                    if hashlib.sha256(file.read()).hexdigest() != digest:
                        yield f"{number} is wrong"
            except FileNotFoundError:
                yield f"{number} is missing"

    def close(self):
        end = self.worker.stop() if self.worker else 0
        if self.database:
            self.database.stop()
        run("umount", self.disk, check=False)
        for folder in (self.disk, self.place):
            remove(folder)
        return end


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    bench = Bench(parser.parse_args().binary)
    try:
        wrong = list(bench.go())
    finally:
        end = bench.close()
    if end != 0:
        wrong.append(f"the worker's end: {end}")
    for line in wrong[:20]:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
