"""Kills `transfer` with -9 at every failpoint and at random moments, and looks at what came of it.

With `--served` it's `transfer-server` that is killed, and the work is submitted to it over HTTP (service.py). With `--fleet` it's
a worker of a queue in PostgreSQL, into which the work is brought (fleet_run.py).

First each kind of job dies once at each step that it passes, and runs again to its end. Then kills come at random
moments, over all kinds, until there were enough of them. What is printed last are the figures that the promises name;
the exit status is 0 if they hold.
"""

import argparse
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import fileservers
import fleet_run
import peers
import scenarios
from runs import Run
from server import Server
from service import ServiceRun

ROOT = peers.ROOT
# How long a run may take that nobody kills, in seconds. The slowest takes one on an idle machine.
PATIENCE = 90
# For the points that a job passes many times: which passings are tried. A kind that doesn't pass a point that often
# ends by itself.
PASSINGS = {
    "bytesWritten": [1, 2, 17, 300], "bodyProvided": [1, 2, 17], "requestStarted": range(1, 9),
    "exchangeOver": range(1, 9), "dialogueSent": range(1, 9), "dialogueAnswered": range(1, 9),
    "stateUnsaved": range(1, 5), "stateSaved": range(1, 5), "recordDue": [1, 2], "recordUncommitted": [1, 2],
    "recordCommitted": [1, 2], "bodyComplete": range(1, 5), "fileDue": [1, 3], "fileHidden": [1, 3],
    "fileSettled": [1, 3], "settlementNoted": [1, 2], "fileCopied": [1, 3], "copyNamed": [1, 3],
    "downloadNamed": [1, 2],
}


def failpoints():
    """Returns the points in the order of jobs, each with the kind of job that its section in the header names."""
    text = (ROOT / "Sources/CTransferLinux/failpoints.h").read_text()
    section, found = "", []
    for line in text.splitlines():
        title = re.match(r"\s*/\* (Every job|Downloads|Uploads|Watched folders)\.", line)
        section = title[1] if title else section
        point = re.match(r"\s*point\((\w+)\)", line)
        if point:
            found.append((point[1], section))
    return found


def passes(scenario, section):
    if section == "Downloads":
        return issubclass(scenario, scenarios.Get)
    if section == "Uploads":
        return not issubclass(scenario, scenarios.Get)
    return section == "Every job" or scenario.is_watched


class Peers:
    """Servers that all workers share: their uploads are told apart by their names."""

    def __init__(self, folder):
        self.tus = peers.Tus(folder / "tus")
        self.s3 = peers.S3(folder / "s3")

    def stop(self):
        self.tus.stop()
        self.s3.stop()


class Place:
    """A worker's own: a folder, the queue's state, which goes from scenario to scenario, and servers."""

    def __init__(self, folder, far, shared, database):
        self.folder, self.far, self.peers, self.database = folder, far, shared, database
        folder.mkdir()
        far.mkdir()
        self.server = Server()
        self.others = [peers.Nginx(folder / "nginx")]
        self.nginx = self.others[0]
        if fileservers.has_ftp():
            self.ftp = fileservers.FTP(folder / "ftp")
            self.others.append(self.ftp)
        if fileservers.has_ssh():
            self.ssh = fileservers.SSH(folder / "ssh")
            self.others.append(self.ssh)

    def stop(self):
        for server in self.others:
            server.stop()
        self.server.shutdown()


class CommandRun(Run):
    """One run of the command."""

    def __init__(self, binary, scenario, failpoint=None):
        super().__init__(
            scenario, [binary, "run", "jobs.json", "--json"],
            {"TRANSFER_STATE": str(scenario.place.folder / "state")}, failpoint)

    def to_its_end(self, patience):
        """A watched folder has an end when there is nothing left to do, and is stopped then."""
        deadline = time.monotonic() + patience
        if not self.scenario.is_watched:
            return self.has_ended(patience)
        while not self.has_ended(0.01):
            if time.monotonic() > deadline:
                return False
            if self.is_idle() and self.scenario.is_done():
                self.process.send_signal(signal.SIGTERM)
                return self.has_ended(patience)
        return True

    def is_idle(self):
        output = self.output
        if '"watch.caughtUp"' not in output:
            return False
        backlog = [line for line in output.splitlines() if '"watch.backlog"' in line]
        return bool(backlog) and '"waiting":0' in backlog[-1]


class Torture:
    def __init__(self, options):
        self.options = options
        self.binary = str(Path(options.binary).resolve())
        self.rule = "torture-serve" if options.served else "torture-work" if options.fleet else "torture"
        self.lock = threading.Lock()
        self.kills = 0
        self.at_points = 0
        self.runs = 0
        self.faults = []
        self.repeated = []
        self.in_doubt = 0
        self.never = []
        self.number = 0

    # One scenario

    def make(self, kind, place):
        with self.lock:
            self.number += 1
            number = self.number
        return kind(place, number)

    def start(self, scenario, failpoint=None):
        with self.lock:
            self.runs += 1
        kind = ServiceRun if self.options.served else fleet_run.FleetRun if self.options.fleet else CommandRun
        return kind(self.binary, scenario, failpoint)

    def end(self, scenario, again):
        """Runs it to its end, then once more, which must do nothing; judges, and counts.

        - again: the command that repeats it.
        """
        for _ in range(2):
            # The next run would be the user's word that what is in doubt is to be sent again.
            if not scenario.in_doubt:
                self.run_to_end(scenario)
        self.judge(scenario, again)

    def run_to_end(self, scenario):
        run = self.start(scenario)
        if not run.to_its_end(PATIENCE):
            scenario.fault("lost", f"no end within {PATIENCE} s")
            run.kill()
        self.ended(scenario, run)

    def ended(self, scenario, run):
        code = run.code
        if code == 1 and scenario.is_in_doubt(run.output):
            scenario.in_doubt += 1
        elif code != 0 and not run.was_killed:
            scenario.fault("lost", f"ended with {code}")

    def judge(self, scenario, again):
        scenario.finish()
        with self.lock:
            self.repeated += scenario.repeated
            self.in_doubt += scenario.in_doubt
            for kind, text in scenario.faults:
                self.faults.append(kind)
                print(f"{kind.upper()}: {text}\n    again: {again}", flush=True)
            if scenario.faults:
                print(f"    its runs: {', '.join(run.end for run in scenario.runs)}; the last one said:", flush=True)
                for line in scenario.runs[-1].output.splitlines()[-8:]:
                    print(f"    | {line[:400]}", flush=True)
        if not scenario.faults or not self.options.keep:
            scenario.clean()

    # Failpoints

    def die_at(self, kind, place, point, passing):
        """Returns whether the job came by there."""
        scenario = self.make(kind, place)
        place.server.pace = kind.pace
        run = self.start(scenario, f"{point}:{passing}")
        again = f"make {self.rule} TORTURE='--kind {kind.kind} --point {point}:{passing}'"
        if not run.to_its_end(PATIENCE):
            scenario.fault("lost", f"no end within {PATIENCE} s at {point}:{passing}")
            run.kill()
        if not run.was_killed:
            self.ended(scenario, run)
            self.judge(scenario, again)
            return False
        with self.lock:
            self.kills += 1
            self.at_points += 1
        scenario.killed()
        self.end(scenario, again)
        return True

    def all_points(self, kinds, places):
        work = [(kind, point) for kind in kinds for point, section in failpoints() if passes(kind, section)]
        if self.options.point:
            name, _, passing = self.options.point.partition(":")
            for kind in kinds:
                if not self.die_at(kind, places[0], name, int(passing or 1)):
                    print(f"{kind.kind} doesn't come by {self.options.point}", flush=True)
            return
        work.reverse()
        reached = set()

        def go(place):
            while True:
                with self.lock:
                    if not work:
                        return
                    kind, point = work.pop()
                for passing in PASSINGS.get(point, [1]):
                    if self.options.short and passing > 1:
                        break
                    if not self.die_at(kind, place, point, passing):
                        break
                    reached.add(point)

        self.in_parallel(go, places)
        if not self.options.kind:
            # Clients of the service, and of a queue that many machines share, watch no folders.
            mine = [point for point, section in failpoints() if not self.options.is_outside or section != "Watched folders"]
            self.never = [point for point in mine if point not in reached]
        print(f"failpoints: {len(reached)} of {len(failpoints())} reached, {self.at_points} kills", flush=True)

    # Random moments

    def at_random(self, kinds, places, wanted):
        windows = {kind: 0.4 for kind in kinds}
        first = self.kills
        seeds = iter(range(self.options.seed, 1 << 62))

        def go(place):
            while self.kills - first < wanted:
                with self.lock:
                    seed = next(seeds)
                chance = random.Random(seed)
                kind = chance.choice(kinds)
                place.server.pace = chance.choice([None, 20 << 20, 60 << 20, 150 << 20])
                scenario = self.make(kind, place)
                self.some_kills(scenario, chance, windows, lambda: self.kills - first >= wanted)
                place.server.pace = None
                self.end(scenario, f"make {self.rule} TORTURE='--kind {kind.kind} --seed {seed} --kills 20 --no-points'")

        self.in_parallel(go, places)
        print(f"random moments: {self.kills - first} kills", flush=True)

    def some_kills(self, scenario, chance, windows, are_enough):
        kind = type(scenario)
        for _ in range(chance.randint(1, 6)):
            if are_enough():
                return
            run = self.start(scenario)
            wait = chance.uniform(0, 1) * windows[kind]
            if run.has_ended(wait):
                # The work is done sooner than that.
                windows[kind] = max(0.02, windows[kind] * 0.8)
                return self.ended(scenario, run)
            run.kill()
            if not run.was_killed:
                return self.ended(scenario, run)
            windows[kind] = min(3, windows[kind] * 1.05)
            with self.lock:
                self.kills += 1
            scenario.killed()

    def in_parallel(self, go, places):
        troubles = []

        def guarded(place):
            try:
                go(place)
            except Exception as trouble:  # A worker that stops must not pass for one that had nothing to say.
                troubles.append(trouble)
                raise

        threads = [threading.Thread(target=guarded, args=(place,)) for place in places]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if troubles:
            raise SystemExit(f"torture: {troubles[0]!r}")

    # The figures

    def report(self):
        counts = {kind: self.faults.count(kind) for kind in ("corrupt", "lost", "twice", "again", "left")}
        most = max(self.repeated, default=0)
        mean = sum(self.repeated) // max(1, len(self.repeated))
        for point in self.never:
            print(f"no job came by {point}")
        print(f"{self.kills} kills ({self.at_points} at failpoints), {self.runs} runs")
        if self.in_doubt:
            print(f"left to the user, as only the user can say: {self.in_doubt} batches with POSTs")
        print(f"corrupt {counts['corrupt']}")
        print(f"lost {counts['lost']}")
        print(f"sent twice {counts['twice']}")
        print(f"left behind {counts['left']}")
        print(f"bytes fetched again per kill: at most {most >> 10} KiB, {mean >> 10} KiB on average (bound: 4096 KiB)")
        return not self.faults and not self.never


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(ROOT / ".build-torture/release/transfer"))
    parser.add_argument("--kills", type=int, default=1000, help="at random moments")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kind", help="of this kind of job alone")
    parser.add_argument("--point", help="at this failpoint alone: NAME or NAME:N")
    parser.add_argument("--short", action="store_true", help="each failpoint once for each kind of job")
    parser.add_argument("--no-points", action="store_true", help="at random moments alone")
    parser.add_argument("--served", action="store_true", help="BINARY is transfer-server, which gets the work over HTTP")
    parser.add_argument("--fleet", action="store_true", help="the work is brought into a queue in PostgreSQL")
    parser.add_argument("--keep", action="store_true", help="leave the folders of what failed")
    options = parser.parse_args()
    options.is_outside = options.served or options.fleet

    has_peers = peers.are_installed()
    kinds = scenarios.OWN + ([] if options.is_outside else scenarios.WATCHED)
    # The others' jobs name secrets, which no client may.
    more_kinds = [] if options.is_outside else [
        ("tus and S3", has_peers, scenarios.FROM_PYPI, "setup-peers"),
        ("FTP", fileservers.has_ftp(), scenarios.BY_FTP, "setup"),
        ("SFTP", fileservers.has_ssh(), scenarios.BY_SSH, "setup"),
    ]
    for what, are_there, more, remedy in more_kinds:
        if are_there:
            kinds = kinds + more
        elif os.environ.get("TRANSFER_PEERS") == "required":
            raise SystemExit(f"torture: no servers of {what}; `make {remedy}` installs them")
        else:
            print(f"SKIPPED: {what}, as there are no servers (`make {remedy}` installs them)", flush=True)
    if options.kind:
        kinds = [kind for kind in kinds if kind.kind == options.kind]
        if not kinds:
            raise SystemExit(f"torture: no kind of job is called {options.kind}")

    torture = Torture(options)
    print(f"seed {options.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="torture-"))
    # Another file system than that of the folders, where the machine has one.
    memory = Path("/dev/shm")
    far = Path(tempfile.mkdtemp(prefix="torture-", dir=memory if memory.is_dir() else None))
    shared = database = None
    places = []
    try:
        if options.fleet:
            folder.chmod(0o755)
            database = fleet_run.start_database(folder / "database")
        shared = Peers(folder) if has_peers else None
        places = [Place(folder / f"w{n}", far / f"w{n}", shared, database) for n in range(options.workers)]
        if not options.no_points:
            torture.all_points(kinds, places)
        if not options.point:
            torture.at_random(kinds, places, options.kills)
    finally:
        for server in places + [server for server in (shared, database) if server]:
            server.stop()
        if not (options.keep and torture.faults):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(far, ignore_errors=True)
        else:
            print(f"kept: {folder} {far}")
    sys.exit(0 if torture.report() else 1)


if __name__ == "__main__":
    main()
