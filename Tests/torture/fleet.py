#!/usr/bin/env python3
"""Workers of one queue that are killed, put to sleep and cut off, and a database that crashes: prints what became of the jobs.

Nothing may be lost, recorded twice, or wrong, and no worker may need a hand. Exit status 1 where something is.
"""

import argparse
import collections
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from fleet_place import Database, Network, Worker, report
from server import Server

WORKERS = 4
LEASE = 3
BATCH = 120
QUEUE = "torture"
DONE, FAILED = "5", "6"
KINDS = ("lost", "recorded twice", "wrong files", "arrived twice", "workers that ended by themselves",
         "workers that didn't end when asked")

AUDIT = """
SET search_path = transfer_torture;
CREATE TABLE audit (job BIGINT NOT NULL, state SMALLINT NOT NULL);
CREATE FUNCTION note_end() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO transfer_torture.audit VALUES (NEW.id, NEW.state); RETURN NEW; END';
CREATE TRIGGER ends AFTER UPDATE ON job FOR EACH ROW
    WHEN (NEW.state >= 5 AND NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_end();
"""


class Fleet:
    """One run: its workers, what happened to them, and the jobs that were brought."""

    workers_count = WORKERS
    quiet = ("-q",)
    # Of ten jobs each: downloads, and uploads by the protocol that their path names.
    mix = ("download",) * 6 + ("draft", "draft", "put", "post")

    def __init__(self, binary, folder, rng):
        self.binary, self.folder, self.rng = binary, folder, rng
        self.network = self.make_network()
        self.database = self.make_database()
        self.server = Server(self.network.server_host)
        self.server.pace = 256 << 10
        self.queue = self.database.url(QUEUE)
        self.batches = 0
        self.sums = {}  # name: sha256
        self.happened = collections.Counter()
        self.later = []  # (time, what ends a fault)
        self.busy = set()  # workers that sleep or are cut off
        os.makedirs(f"{folder}/state")
        words = [binary, "work", "--queue", self.queue, "-j", "6", "--lease", f"{LEASE}s", "--allow-private", "--progress",
                 "none", "--no-config", *self.quiet]
        # Two of four share a folder, as on shared storage.
        count = self.workers_count
        self.folders = [f"{folder}/files{number * 2 // count}" for number in range(count)]
        for place in set(self.folders):
            os.makedirs(f"{place}/out")
        self.workers = [
            Worker(words, self.network, number, self.folders[number], f"{folder}/worker{number}.log")
            for number in range(count)
        ]

    def make_network(self):
        return Network(self.workers_count)

    def make_database(self):
        return Database(f"{self.folder}/database", self.network.host)

    # Jobs

    def bring(self):
        """Submits another batch; has no effect while the database is unreachable."""
        number = self.batches
        jobs = []
        for index in range(BATCH):
            name = f"{number}-{index}"
            content = random.Random(name).randbytes(self.rng.choice([700, 9_000, 70_000, 300_000]))
            kind = self.mix[index % 10]
            self.sums[name] = hashlib.sha256(content).hexdigest()
            if kind == "download":
                self.server.serve(f"/{name}", content)
                jobs.append({"id": name, "download": self.server.url(f"/{name}"), "to": f"in/{name}"})
            else:
                first, second = sorted(set(self.folders))
                with open(f"{first}/out/{name}", "wb") as file:
                    file.write(content)
                # The same file, as far as anybody can tell: an upload goes on with no other one.
                os.link(f"{first}/out/{name}", f"{second}/out/{name}")
                jobs.append({"id": name, "upload": f"out/{name}", "to": self.server.url(f"/{kind}/{name}"),
                             "protocol": "resumable" if kind == "draft" else kind})
        rules = {"retry": {"limit": 100000, "maxDelay": "1s"}, "timeout": "5s", "connectTimeout": "3s"}
        with open(f"{self.folder}/batch.json", "w", encoding="utf-8") as file:
            json.dump({"version": 1, "name": f"b{number}", "defaults": rules, "jobs": jobs}, file)
        words = [self.binary, "run", f"{self.folder}/batch.json", "--detach", "--no-config", "--queue", self.queue]
        try:
            brought = subprocess.run(words, capture_output=True, text=True, timeout=30, env=self.workers[0].environment,
                                     check=False).returncode == 0
        except subprocess.TimeoutExpired:
            brought = False
        if brought:
            self.batches += 1
        return brought

    def counts(self):
        """Returns the number of jobs in each state of the whole queue."""
        rows = self.database.ask("SELECT state, count(*) FROM transfer_torture.job GROUP BY state")
        return {int(state): int(count) for state, count in rows}

    # Faults

    def heal(self, everything=False):
        now = time.monotonic()
        due = [fault for fault in self.later if everything or fault[0] <= now]
        self.later = [fault for fault in self.later if fault not in due]
        for _, end in due:
            end()

    def harm(self):
        """Causes one fault."""
        number = self.rng.randrange(WORKERS)
        worker = self.workers[number]
        chance = self.rng.random()
        # Now and then for longer than a lease.
        span = self.rng.choice([0.3, 1, 2, LEASE * 1.5])
        if chance < 0.1:
            self.happened["crashes of the database"] += 1
            self.database.kill()
            time.sleep(self.rng.choice([0, 0.2, 1, LEASE * 1.2]))
            self.database.start()
        elif chance < 0.25 and number not in self.busy:
            self.happened["sleeps of workers"] += 1
            self.busy.add(number)
            sleeper = worker.process
            worker.signal(signal.SIGSTOP)
            self.later.append((time.monotonic() + span, lambda: self.wake(number, sleeper)))
        elif chance < 0.4 and number not in self.busy and self.network.names:
            side = self.rng.choice(self.network.SIDES)
            self.happened[f"partitions from {side}"] += 1
            self.busy.add(number)
            self.network.cut(number, side, True)
            self.later.append((time.monotonic() + span, lambda: self.join(number, side)))
        else:
            self.happened["kills of workers"] += 1
            worker.kill()
            worker.start()

    def wake(self, number, process):
        self.busy.discard(number)
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)

    def join(self, number, side):
        self.busy.discard(number)
        self.network.cut(number, side, False)

    # The run

    def run(self, kills):
        while not self.bring():
            time.sleep(0.1)
        self.database.ask(AUDIT)
        while sum(self.happened.values()) < kills:
            time.sleep(self.rng.uniform(0.02, 0.5))
            self.heal()
            counts = self.counts()
            if sum(count for state, count in counts.items() if state < 5) < BATCH // 2:
                self.bring()
            self.harm()
        self.heal(everything=True)
        gone = [f"{worker.number}: {worker.process.poll()}" for worker in self.workers if not worker.is_running]
        begun = time.monotonic()
        while any(state < 5 for state in self.counts()) and time.monotonic() - begun < 120:
            time.sleep(0.2)
        return gone, time.monotonic() - begun

    def close(self):
        self.heal(everything=True)
        ends = [worker.stop() for worker in self.workers]
        self.database.stop()
        self.network.close()
        return ends


def judge(fleet):
    """Returns the errors by kind."""
    rows = fleet.database.ask("SELECT id, identity, state, is_upload, coalesce(path, ''), coalesce(error_code, '')"
                              " FROM transfer_torture.job")
    wrong = collections.defaultdict(list)
    for _, name, state, is_upload, path, code in rows:
        sent = fleet.server.whole.get(f"/post/{name}")
        if state == FAILED and code == "mayHaveBeenSent" and fleet.mix[int(name.split("-")[1]) % 10] == "post":
            # A person decides: it may have arrived, once and as a whole, or it hasn't.
            fleet.happened["posts that may have arrived"] += 1
            if sent not in (None, [fleet.sums[name]]):
                wrong["arrived twice"].append(name)
            continue
        if state != DONE:
            wrong["lost"].append(f"{name} in state {state}")
            continue
        if is_upload == "t":
            bodies = [sum for place in ("draft", "put", "post") for sum in fleet.server.whole.get(f"/{place}/{name}", [])]
            if fleet.sums[name] not in bodies or set(bodies) != {fleet.sums[name]}:
                wrong["wrong files"].append(name)
            if len(sent or []) > 1:
                wrong["arrived twice"].append(name)
            # The rest of a body may be on its way already when the next owner asks the server, which can't tell that yet.
            if len(fleet.server.whole.get(f"/put/{name}", [])) > 1:
                fleet.happened["puts that arrived again, with the same bytes"] += 1
            if len(fleet.server.whole.get(f"/draft/{name}", [])) > 1:
                begun = [upload for upload in fleet.server.uploads.values() if upload.target == f"/draft/{name}"]
                wrong["arrived twice"].append(f"{name}, of {len(begun)} uploads that were begun")
            continue
        with open(path, "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() != fleet.sums[name]:
                wrong["wrong files"].append(name)
    if len(rows) != fleet.batches * BATCH:
        wrong["lost"].append(f"{len(rows)} rows of {fleet.batches * BATCH}")
    for job, count in fleet.database.ask(
            "SELECT job, count(*) FROM transfer_torture.audit GROUP BY job HAVING count(*) > 1"):
        wrong["recorded twice"].append(f"{job}: {count} times")
    return len(rows), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", action="store_true", help="leave the folder with the logs")
    arguments = parser.parse_args()
    seed = random.randrange(1 << 32) if arguments.seed is None else arguments.seed
    folder = tempfile.mkdtemp(prefix="transfer-fleet.")
    os.chmod(folder, 0o755)
    fleet = Fleet(arguments.binary, folder, random.Random(seed))
    try:
        gone, seconds = fleet.run(arguments.kills)
        jobs, wrong = judge(fleet)
    finally:
        ends = fleet.close()
    wrong["workers that ended by themselves"] += gone
    wrong["workers that didn't end when asked"] += [str(end) for end in ends if end != 0]
    head = f"{jobs} jobs, {WORKERS} workers, seed {seed}, all ended {seconds:.1f} s after the last fault"
    return report(head, fleet.happened, wrong, KINDS, folder, arguments.keep)


if __name__ == "__main__":
    sys.exit(main())
