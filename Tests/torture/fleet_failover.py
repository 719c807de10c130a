#!/usr/bin/env python3
"""Two workers whose database is killed for good, again and again, and whose synchronous standby takes its place.

Now and then the standby is cut off first, and all changes wait until it's there again.

Workers have the addresses of both servers. Nothing may be lost, recorded twice, or wrong, no upload may arrive twice, and no
worker may need a hand. A POST may end as one that may have arrived, which is counted, as are workers that began anew: where the
standby was promoted before the end of their leases they go on. Exit status 1 where something is wrong.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time

from fleet import AUDIT, BATCH, KINDS, LEASE, QUEUE, Fleet, judge
from fleet_copies import Loopback
from fleet_place import Database, children, report

WORKERS = 2


class Pair:
    """A database and its standby, which change places."""

    def __init__(self, folder):
        self.primary = Database(f"{folder}/one", Loopback.host)
        self.standby = Database(f"{folder}/other", Loopback.host, follows=self.primary)
        self.attach()

    def url(self, queue):
        hosts = ",".join(f"{server.host}:{server.port}" for server in (self.primary, self.standby))
        return f"postgres://transfer@{hosts}/postgres?queue={queue}&sslmode=disable&target_session_attrs=read-write"

    def ask(self, sql):
        return self.primary.ask(sql)

    def attach(self):
        """Requires from now on that the standby has each commit."""
        self.primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.ask("SELECT pg_reload_conf()")
        question = "SELECT current_setting('synchronous_standby_names'), sync_state FROM pg_stat_replication"
        while self.primary.ask(question) != [["*", "sync"]]:
            # The servers' processes have no event for this one.
            time.sleep(0.02)

    def cut_off(self, span):
        """Stops the standby for a while."""
        every = [self.standby.process.pid, *children(self.standby.process.pid)]
        for word in (signal.SIGSTOP, signal.SIGCONT):
            for pid in every:
                try:
                    os.kill(pid, word)
                except ProcessLookupError:
                    # One of its children has ended.
                    continue
            if word == signal.SIGSTOP:
                # The length of the silence is a time, and nothing else.
                time.sleep(span)

    def fail_over(self, pause):
        """Kills the primary with its disk, and promotes the standby after a while."""
        self.primary.kill(everything=True)
        time.sleep(pause)
        self.standby.ask("SELECT pg_promote()")
        self.primary, self.standby = self.standby, self.primary

    def renew(self):
        """Makes another standby where the lost server was."""
        self.standby.copy(self.primary)
        self.attach()

    def stop(self):
        for server in (self.standby, self.primary):
            if server.is_running:
                server.stop()


class FailOverFleet(Fleet):
    workers_count = WORKERS
    quiet = ()
    mix = ("download",) * 6 + ("draft", "draft", "put", "post")

    def make_network(self):
        return Loopback()

    def make_database(self):
        return Pair(f"{self.folder}/database")

    def open_jobs(self):
        return sum(count for state, count in self.counts().items() if state < 5)

    def begun_anew(self):
        """Workers that gave up what was under way, so far."""
        count = 0
        for worker in self.workers:
            with open(worker.log, encoding="utf-8") as log:
                count += log.read().count("the worker begins anew")
        return count

    def run(self, rounds):
        """Returns the workers that are gone, and the seconds from the last promotion to the last end."""
        assert self.bring()
        self.database.ask(AUDIT)
        for _ in range(rounds):
            if self.open_jobs() < BATCH // 2:
                self.bring()
            # In the midst of a batch, which takes two seconds or more.
            time.sleep(self.rng.uniform(0.3, 1.2))
            if self.rng.random() < 0.3:
                self.happened["standbys that were cut off"] += 1
                self.database.cut_off(self.rng.choice([0.5, LEASE * 0.5]))
            self.happened["fail-overs" if self.open_jobs() else "fail-overs without work"] += 1
            # Now and then for longer than a lease.
            pause = self.rng.choice([0, 0.5, LEASE * 1.5])
            before = self.begun_anew()
            self.database.fail_over(pause)
            self.database.renew()
            kind = "after a lease's time" if pause > LEASE else "within a lease's time"
            self.happened[f"workers that began anew, {kind}"] += self.begun_anew() - before
        begun = time.monotonic()
        while self.open_jobs() and time.monotonic() - begun < 120:
            time.sleep(0.2)
        gone = [f"{worker.number}: {worker.process.poll()}" for worker in self.workers if not worker.is_running]
        return gone, time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", action="store_true", help="leave the folder with the logs")
    arguments = parser.parse_args()
    seed = random.randrange(1 << 32) if arguments.seed is None else arguments.seed
    folder = tempfile.mkdtemp(prefix="transfer-failover.")
    os.chmod(folder, 0o755)
    os.makedirs(f"{folder}/database")
    fleet = FailOverFleet(arguments.binary, folder, random.Random(seed))
    try:
        gone, seconds = fleet.run(arguments.rounds)
        jobs, wrong = judge(fleet)
        wrong["arrived twice"] += [
            path for path, sums in fleet.server.whole.items() if path.startswith("/put/") and len(sums) > 1]
    finally:
        ends = fleet.close()
    wrong["workers that ended by themselves"] += gone
    wrong["workers that didn't end when asked"] += [str(end) for end in ends if end != 0]
    head = f"{jobs} jobs, {WORKERS} workers, seed {seed}, all ended {seconds:.1f} s after the last promotion"
    return report(head, fleet.happened, wrong, KINDS, folder, arguments.keep)


if __name__ == "__main__":
    sys.exit(main())
