"""Runs of `transfer work` on a queue in PostgreSQL in place of `transfer run`: the jobs are brought once.

A run ends as that of the command does: when all jobs of its batch have ended, the worker is told to. A worker that was killed
is taken for dead when the next one begins, as if its lease were over.
"""

import subprocess
import time

from fleet_place import Database
from runs import DrivenRun, Gone

# The numbers of states (Sources/TransferStorePostgres/Values): from here on a job has ended.
FIRST_ENDED, DONE = 5, 5


def start_database(folder):
    return Database(str(folder), "127.0.0.1")


class FleetRun(DrivenRun):
    """One worker, and the client that waits."""

    def __init__(self, binary, scenario, failpoint=None):
        self.database, self.queue = scenario.place.database, scenario.place.folder.name
        self.url = self.database.url(self.queue)
        self.bring(binary, scenario)
        super().__init__(
            scenario,
            [
                binary, "work", "--queue", self.url, "-d", str(scenario.folder), "--allow-private", "--no-config", "--json", "-v",
            ],
            {}, failpoint)

    def bring(self, binary, scenario):
        """Brings the jobs the first time, and as a repetition when all has ended."""
        if getattr(scenario, "is_brought", False) and not getattr(scenario, "has_ended", False):
            self.ask(f"UPDATE transfer_{self.queue}.process SET until = 0 WHERE is_worker")
            return
        words = [binary, "run", "jobs.json", "--detach", "--no-config", "--queue", self.url]
        brought = subprocess.run(
            words, cwd=scenario.folder, capture_output=True, text=True, check=False,
            env={"PATH": "/usr/bin:/bin", "HOME": str(scenario.folder), "LANG": "C.UTF-8"})
        if brought.returncode != 0:
            scenario.fault("lost", f"the batch was refused: {brought.returncode} {brought.stderr}")
        scenario.is_brought = True

    def ask(self, sql):
        return self.database.ask(sql)

    def follow(self):
        """Each job has to be there once."""
        name = f"{self.scenario.kind}-{self.scenario.number}"
        jobs = len(self.scenario.jobs)
        question = (
            f"SELECT state, coalesce(error_code, ''), count(*) FROM transfer_{self.queue}.job JOIN transfer_{self.queue}.batch"
            f" ON batch.id = job.batch WHERE name = '{name}' GROUP BY 1, 2")
        while True:
            if self.process.poll() is not None:
                raise Gone
            rows = [(int(state), code, int(count)) for state, code, count in self.ask(question)]
            total = sum(count for _, _, count in rows)
            if total != jobs:
                self.scenario.fault("lost" if total < jobs else "twice", f"{total} jobs in place of {jobs}")
                self.process.kill()
                raise Gone
            # A signal would end a worker that has not begun.
            if all(state >= FIRST_ENDED for state, _, _ in rows) and "working on postgres://" in self.output:
                break
            # Between two looks at another process.
            time.sleep(0.05)
        self.scenario.has_ended = True
        self.failed = sum(count for state, _, count in rows if state != DONE)
        # Jobs in doubt are found in the output, as in that of the command.
        with open(self.output_path, "a") as output:
            for state, code, count in rows:
                output.write(f'{{"state":{state},"error":"{code}","count":{count}}}\n')
