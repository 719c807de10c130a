"""Runs of `transfer serve` in place of `transfer run`: the batch is submitted over HTTP, once it was answered never again.

A run ends as that of the command does: when all jobs of its batch have ended, the service is told to.
"""

import json
import re
import time
import urllib.error
import urllib.request

from runs import DrivenRun, Gone

SECRET = "of-the-torture"


class ServiceRun(DrivenRun):
    """One process of the service, and the client that submits to it and waits."""

    def __init__(self, binary, scenario, failpoint=None):
        super().__init__(
            scenario,
            [
                binary, "--listen", "127.0.0.1:0", "--state", str(scenario.place.folder / "state"), "--directory",
                str(scenario.folder), "--secret", "$SECRET", "--allow-private",
            ],
            {"SECRET": SECRET}, failpoint)

    # The client

    def follow(self):
        self.base = self.address()
        key = self.submit()
        while (batch := self.look(key))["remaining"] > 0:
            # Between two looks at another process.
            time.sleep(0.01)
        self.judge(batch)

    def address(self):
        while True:
            found = re.search(r"^serving (?:.* )?(http://127\.0\.0\.1:\d+)", self.output, re.M)
            if found:
                return found[1]
            if self.process.poll() is not None:
                raise Gone
            time.sleep(0.005)

    def submit(self):
        """Returns the batch's key. What was answered with success isn't submitted again."""
        if getattr(self.scenario, "key", None) is None:
            text = (self.scenario.folder / "jobs.json").read_bytes()
            status, answer = self.ask("/api/v1/batches", text)
            if status not in (200, 201):
                self.scenario.fault("lost", f"the batch was refused: {status} {answer}")
                self.process.kill()
                raise Gone
            self.scenario.key = answer["key"]
        return self.scenario.key

    def look(self, key):
        """Returns the batch, which has to be there with each of its jobs once."""
        status, batch = self.ask(f"/api/v1/batches/{key}")
        jobs = len(self.scenario.jobs)
        if status != 200:
            self.scenario.fault("lost", f"the batch that was taken isn't there: {status} {batch}")
        elif batch["total"] != jobs:
            self.scenario.fault(
                "lost" if batch["total"] < jobs else "twice", f"{batch['total']} jobs in place of {jobs}")
        else:
            return batch
        self.process.kill()
        raise Gone

    def judge(self, batch):
        self.failed = batch["failed"] + batch["skipped"] + batch["cancelled"]
        if self.failed:
            _, page = self.ask(f"/api/v1/jobs?limit=1000&batch={batch['name']}")
            with open(self.output_path, "a") as output:
                for job in page["jobs"]:
                    output.write(json.dumps(job) + "\n")

    def ask(self, path, body=None):
        request = urllib.request.Request(
            self.base + path, body, {"Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"})
        try:
            with OPENER.open(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")
        except (OSError, ValueError, EOFError) as error:
            raise Gone from error
        except Exception as error:
            # A half of an answer, of a service that died in it.
            raise Gone from error


# No proxy that the environment names stands between.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
