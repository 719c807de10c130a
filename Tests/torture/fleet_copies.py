#!/usr/bin/env python3
"""Copies from HTTP to S3 (moto and rclone's server) by four workers of one queue that are killed and put to sleep.

Each object arrives once, with the right bytes, and each job is recorded once: prints what became of them, and exits with 1
where something else happened. The two servers stand behind nginx, whose log says what they took.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from fleet_place import Database, Worker, report
from peers import PYTHON, Process, S3, fetch, free_port

WORKERS = 4
LEASE = 3
BUCKET = "bucket"
CHUNK = 5 << 20


class Loopback:
    """The place of workers whose network is never cut."""

    host = server_host = "127.0.0.1"

    def inside(self, number):
        return []

    def close(self):
        pass


class Rclone(Process):
    """rclone's S3 server over a folder."""

    def __init__(self, folder):
        (folder / "files" / BUCKET).mkdir(parents=True)
        self.files = folder / "files"
        binary = PYTHON.with_name("rclone")
        port = free_port()
        super().__init__([binary, "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", "key,secret", self.files],
                         folder, port)

    def content(self, key):
        try:
            return (self.files / BUCKET / key).read_bytes()
        except FileNotFoundError:
            return None


class Front(Process):
    """nginx: the files that are copied, and the two object stores, with a line for each request and its answer."""

    def __init__(self, folder, stores):
        binary = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        if not binary:
            raise RuntimeError("nginx isn't installed; `make setup` installs it")
        self.root = folder / "root"
        self.root.mkdir(parents=True)
        self.folder, self.ports = folder, {}
        parts = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        paths = " ".join(f"{part}_temp_path {folder}/{part};" for part in parts)
        servers = ""
        for name, store in stores.items():
            self.ports[name] = free_port()
            servers += f"""server {{
                listen 127.0.0.1:{self.ports[name]}; access_log {folder}/{name}.log taken;
                location / {{
                    proxy_pass http://127.0.0.1:{store.port}; proxy_set_header Host $http_host; proxy_http_version 1.1;
                    proxy_request_buffering off; proxy_buffering off; proxy_set_header Connection "";
                }}
            }}
            """
        port = free_port()
        (folder / "nginx.conf").write_text(f"""
            daemon off; {"user root;" if os.geteuid() == 0 else ""} worker_processes 1;
            pid {folder}/nginx.pid; error_log {folder}/error.log;
            events {{ worker_connections 1024; }}
            http {{
                {paths}
                log_format taken "$request_method $request_uri $upstream_status"; access_log off;
                client_max_body_size 0; default_type application/octet-stream; types {{ }}
                server {{ listen 127.0.0.1:{port}; root {self.root}; location / {{ limit_rate 4m; }} }}
                {servers}
            }}""")
        super().__init__([binary, "-p", folder, "-c", folder / "nginx.conf"], folder, port)

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def endpoint(self, name):
        return f"http://127.0.0.1:{self.ports[name]}"

    def twice(self, name):
        """Keys that became an object there more than once, as far as its answers tell; a PUT whose client was gone has none."""
        whole, found = collections.Counter(), set()
        for line in (self.folder / f"{name}.log").read_text().splitlines():
            method, target, status = line.split(" ", 2)
            path, _, query = target.partition("?")
            key = path.removeprefix(f"/{BUCKET}/")
            is_whole = method == "PUT" and "partNumber" not in query or method == "POST" and query.startswith("uploadId")
            if is_whole and status == "200":
                # The second one, too, where somebody had seen the first.
                whole[key] += 2 if key in found else 1
            elif method == "HEAD" and status == "200":
                found.add(key)
        return {key for key, count in whole.items() if count > 1}


class Copies:
    def __init__(self, binary, folder, rng, count):
        self.binary, self.folder, self.rng = binary, pathlib.Path(folder), rng
        self.sums, self.happened = {}, collections.Counter()
        self.sleepers, self.workers, self.servers, self.stores = [], [], [], {}
        self.count = count

    def start(self):
        """Starts the servers, brings the jobs, and starts the workers."""
        self.database = self.serve(Database(f"{self.folder}/database", "127.0.0.1"))
        self.stores["moto"] = self.serve(S3(self.folder / "moto"))
        self.stores["moto"].keep_versions()
        self.stores["rclone"] = self.serve(Rclone(self.folder / "rclone"))
        self.front = self.serve(Front(self.folder / "front", self.stores))
        rng, folder, count = self.rng, self.folder, self.count
        lines = [json.dumps({"version": 1, "name": "copies", "defaults": {
            "retry": {"limit": 100000, "maxDelay": "1s"}, "timeout": "20s"}})]
        for number in range(count):
            name, store = f"{number:06}", list(self.stores)[number % 2]
            # Every hundredth has two parts.
            size = rng.randrange(CHUNK, CHUNK * 3 // 2) if number % 100 == 7 else rng.choice([0, 900, 9_000, 70_000])
            content = random.Random(name).randbytes(size)
            (self.front.root / name).write_bytes(content)
            self.sums[name] = (store, hashlib.sha256(content).hexdigest())
            lines.append(json.dumps({
                "id": name, "download": self.front.url(f"/{name}"), "to": f"s3://{BUCKET}/{name}", "chunkSize": "5M",
                "s3": {"endpoint": self.front.endpoint(store), "accessKey": "key", "secretKey": {"credential": "s3"}}}))
        (self.folder / "copies.jsonl").write_text("\n".join(lines) + "\n")
        credentials = self.folder / "credentials"
        credentials.mkdir()
        (credentials / "s3").write_text("secret")
        self.queue = self.database.url("copies")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "CREDENTIALS_DIRECTORY": str(credentials)}
        self.run("run", self.folder / "copies.jsonl", "--detach")
        self.database.ask("""SET search_path = transfer_copies;
            CREATE TABLE audit (job BIGINT NOT NULL);
            CREATE FUNCTION note_end() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN INSERT INTO transfer_copies.audit VALUES (NEW.id); RETURN NEW; END';
            CREATE TRIGGER ends AFTER UPDATE ON job FOR EACH ROW
                WHEN (NEW.state >= 5 AND NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION note_end();""")
        secrets = [word for name in self.stores for word in ("--allow-secret", f"s3={self.front.endpoint(name)}")]
        words = [self.binary, "work", "--queue", self.queue, "-j", "8", "--lease", f"{LEASE}s", "--allow-private", "--progress", "none",
                 "-q", "--no-config", *secrets]
        self.workers = [Worker(words, Loopback(), number, f"{folder}/worker{number}", f"{folder}/worker{number}.log",
                               self.environment) for number in range(WORKERS)]

    def serve(self, server):
        self.servers.append(server)
        return server

    def run(self, verb, *words):
        subprocess.run([self.binary, verb, *words, "--no-config", "--queue", self.queue], check=True, env=self.environment,
                       stderr=subprocess.DEVNULL)

    def open_jobs(self):
        (count,), = self.database.ask("SELECT count(*) FROM transfer_copies.job WHERE state < 5")
        return int(count)

    def harm(self, chance=0.8):
        worker = self.rng.choice(self.workers)
        if self.rng.random() < chance:
            self.happened["kills of workers"] += 1
            worker.kill()
            worker.start()
        elif all(sleeper is not worker.process for _, sleeper in self.sleepers):
            self.happened["sleeps of workers"] += 1
            worker.signal(signal.SIGSTOP)
            self.sleepers.append((time.monotonic() + LEASE * self.rng.uniform(0.5, 2), worker.process))

    def wake(self, everybody=False):
        for due, sleeper in list(self.sleepers):
            if everybody or due <= time.monotonic():
                self.sleepers.remove((due, sleeper))
                if sleeper.poll() is None:
                    sleeper.send_signal(signal.SIGCONT)

    def go(self, kills, limit):
        """Harms the workers, as evenly as can be over all the jobs, until all are over."""
        total, deadline = len(self.sums), time.monotonic() + limit
        while (left := self.open_jobs()) and time.monotonic() < deadline:
            self.wake()
            if sum(self.happened.values()) < kills * (total - left + 1) / total:
                self.harm()
            time.sleep(self.rng.uniform(0.05, 0.3))
        self.wake(everybody=True)

    def judge(self):
        wrong = collections.defaultdict(list)
        twice = {name: self.front.twice(name) for name in self.stores}
        versions = self.stores["moto"].versions()
        states = dict(self.database.ask("SELECT identity, state FROM transfer_copies.job"))
        for name, (store, digest) in self.sums.items():
            if states.get(name) != "5":
                wrong["lost"].append(f"{name} in state {states.get(name)}")
                continue
            content = self.stores[store].content(name)
            if content is None or hashlib.sha256(content).hexdigest() != digest:
                wrong["wrong objects"].append(f"{name} at {store}")
            # moto keeps each version that it was given.
            if name in twice[store] or store == "moto" and versions[name] != 1:
                wrong["not once"].append(f"{name} at {store}")
        for job, count in self.database.ask("SELECT job, count(*) FROM transfer_copies.audit GROUP BY job HAVING count(*) > 1"):
            wrong["recorded twice"].append(f"{job}: {count} times")
        unfinished = re.findall(r"<Key>([^<]*)</Key>", fetch(self.stores["moto"].url(f"/{BUCKET}?uploads")).decode())
        wrong["left unfinished"] += unfinished
        return wrong

    def close(self):
        self.wake(everybody=True)
        ends = [worker.stop() for worker in self.workers]
        for server in reversed(self.servers):
            server.stop()
        return ends


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--copies", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--limit", type=int, default=1800, help="seconds after which what isn't over is lost")
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    seed = random.randrange(1 << 32) if arguments.seed is None else arguments.seed
    folder = tempfile.mkdtemp(prefix="transfer-copies.")
    os.chmod(folder, 0o755)
    begun = time.monotonic()
    copies = Copies(arguments.binary, folder, random.Random(seed), arguments.copies)
    try:
        copies.start()
        copies.go(arguments.kills, arguments.limit)
        wrong = copies.judge()
    finally:
        ends = copies.close()
    wrong["workers that didn't end when asked"] += [str(end) for end in ends if end != 0]
    head = f"{arguments.copies} copies, {WORKERS} workers, seed {seed}, {time.monotonic() - begun:.0f} s"
    kinds = ("lost", "recorded twice", "wrong objects", "not once", "left unfinished",
             "workers that didn't end when asked")
    return report(head, copies.happened, wrong, kinds, folder)


if __name__ == "__main__":
    sys.exit(main())
