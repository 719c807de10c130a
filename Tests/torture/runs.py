"""One process that may be killed, and its output."""

import os
import signal
import subprocess
import threading


class Gone(Exception):
    """The process does not answer: it was killed, or has ended."""


class Run:
    def __init__(self, scenario, command, environment, failpoint=None):
        self.scenario = scenario
        environment = {
            "PATH": os.environ.get("PATH", ""), "HOME": str(scenario.place.folder), "LANG": "C.UTF-8", "TZ": "UTC",
        } | environment
        if failpoint:
            environment["TRANSFER_FAILPOINT"] = failpoint
        scenario.runs.append(self)
        self.output_path = scenario.folder / f"run-{len(scenario.runs)}.jsonl"
        with open(self.output_path, "wb") as output:
            self.process = subprocess.Popen(
                command, cwd=scenario.folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    @property
    def output(self):
        return self.output_path.read_text(errors="replace")

    @property
    def code(self):
        """The exit status of the command, or what it would be."""
        return self.process.returncode

    @property
    def end(self):
        return "killed" if self.was_killed else f"ended with {self.code}"

    @property
    def was_killed(self):
        return self.process.returncode == -signal.SIGKILL

    def has_ended(self, within):
        try:
            self.process.wait(max(0.001, within))
            return True
        except subprocess.TimeoutExpired:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def to_its_end(self, patience):
        """Waits for the end, for so many seconds. Returns whether there was one."""
        return self.has_ended(patience)


class DrivenRun(Run):
    """A process that works until it's told to end, by a client that waits for the jobs."""

    def __init__(self, scenario, command, environment, failpoint=None):
        self.failed = 0
        super().__init__(scenario, command, environment, failpoint)
        self.client = threading.Thread(target=self.drive, daemon=True)
        self.client.start()

    def drive(self):
        try:
            self.follow()
            self.process.send_signal(signal.SIGTERM)
        except Gone:
            # By a kill; an end of its own shows in the exit status.
            pass

    def follow(self):
        """Returns when all jobs have ended, and has judged them. Raises Gone where the process is."""
        raise NotImplementedError

    @property
    def code(self):
        return self.process.returncode or (1 if self.failed else 0)

    def has_ended(self, within):
        if not super().has_ended(within):
            return False
        self.client.join()
        return True

    def kill(self):
        super().kill()
        self.client.join()
