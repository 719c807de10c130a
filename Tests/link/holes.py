#!/usr/bin/env python3
"""Runs `transfer` over a link that has a hole: holes.py BINARY [--only TEXT] [--short] [--list] [--jobs N].

Each case begins a transfer, has packets vanish at a moment that the link's triggers choose, and lets them pass again
after some seconds. The figure is how much later than the link's rate allows all was complete ("late", in seconds).
"""
import argparse
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import servers
from lab import SERVER_ADDRESS, Lab, missing

RATE = 16.0                 # Mbit/s
SIZE = 12_000_000           # Bytes of all files together
ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC"}
S3 = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}


@dataclass
class Case:
    way: str                # get or put
    kind: str               # http, https, h2, ftp, sftp, tus, s3
    files: int = 1
    when: str = ""          # The link's event: "down.bytes=4000000"; empty: before the first packet
    cut: str = "state=hole"
    seconds: float = 10
    size: int = SIZE
    options: list = field(default_factory=list)
    late: float = 2.0       # The most that is allowed

    @property
    def name(self):
        words = [self.way, self.kind, f"{self.files}x{self.size // self.files}", self.cut, self.when or "start",
                 f"{self.seconds:g}s"]
        return " ".join([*words, *self.options])


def cases():
    found = []
    for seconds in (3, 10, 40):
        for kind in ("http", "https", "h2", "ftp", "sftp"):
            for files in (1, 16):
                found.append(Case("get", kind, files, "down.bytes=4000000", seconds=seconds))
        for kind in ("http", "https", "ftp", "sftp", "tus", "s3"):
            for files in (1, 16):
                found.append(Case("put", kind, files, "up.bytes=4000000", seconds=seconds))
    for cut in ("up.state=hole", "down.state=hole"):
        found.append(Case("get", "http", 1, "down.bytes=4000000", cut))
        found.append(Case("get", "http", 16, "down.bytes=4000000", cut))
        found.append(Case("put", "http", 1, "up.bytes=4000000", cut))
        found.append(Case("put", "http", 16, "up.bytes=4000000", cut))
    for kind in ("http", "https"):
        # The SYN, the first flight of TLS or the request, the server's first answer, and the last byte.
        for when in ("", "up.syn=1", "up.data=1", "down.data=1", "up.data=2"):
            for cut in ("state=hole", "down.state=hole"):
                if when or cut == "state=hole":
                    found.append(Case("get", kind, 1, when, cut, size=200_000))
        found.append(Case("put", kind, 1, "up.bytes=199000", "state=hole", size=200_000))
        found.append(Case("put", kind, 1, "up.bytes=199000", "down.state=hole", size=200_000))
    for kind in ("tus", "s3", "ftp", "sftp"):
        found.append(Case("put", kind, 1, "up.bytes=199000", "down.state=hole", size=200_000))
    for way in ("get", "put"):
        event = "down" if way == "get" else "up"
        for reply in ("forget", "forget reset"):
            for kind in ("http", "https", "h2") if way == "get" else ("http", "https"):
                found.append(Case(way, kind, 1, f"{event}.bytes=4000000", reply, seconds=0))
                found.append(Case(way, kind, 16, f"{event}.bytes=4000000", reply, seconds=0))
        for icmp in (0, 1):
            found.append(Case(way, "http", 1, f"{event}.bytes=4000000", f"icmp={icmp} mtu=1200", seconds=0))
            found.append(Case(way, "https", 4, f"{event}.bytes=4000000", f"icmp={icmp} mtu=1200", seconds=0))
    for kind in ("http", "https"):
        found.append(Case("get", kind, 1, "down.bytes=4000000", "state=unreachable"))
        found.append(Case("get", kind, 1, "down.bytes=4000000", "carrier=0"))
    for seconds in (120,):
        for way, kind, files in (
                ("get", "http", 1), ("get", "http", 16), ("get", "https", 1), ("get", "sftp", 1), ("put", "http", 1),
                ("put", "https", 16), ("put", "tus", 1), ("put", "s3", 1), ("put", "sftp", 1)):
            event = "down" if way == "get" else "up"
            found.append(Case(way, kind, files, f"{event}.bytes=4000000", seconds=seconds))
    return found


def url(case, server, number):
    port = servers.PORTS[case.kind]
    scheme = {"h2": "https"}.get(case.kind, case.kind)
    if case.kind == "s3":
        return f"s3://bucket/file-{number}"
    if case.kind == "tus":
        return f"http://{SERVER_ADDRESS}:{port}/files/"
    if case.kind == "sftp":
        return f"sftp://{SERVER_ADDRESS}{server.root}/file-{number}"
    return f"{scheme}://{SERVER_ADDRESS}:{port}/file-{number}"


def job(case, server, number, folder):
    """A line of a job file."""
    local, remote = str(folder / f"file-{number}"), url(case, server, number)
    members = {"id": f"j{number}"}
    if case.way == "get":
        members.update(download=remote, to=local)
    else:
        members.update(upload=local, to=remote)
        if case.kind == "tus":
            members["protocol"] = "tus"
    if case.kind in ("https", "h2"):
        members["tls"] = {"ca": str(server.authority)}
    if case.kind == "ftp":
        members["ftp"] = {"requireTLS": False}
    if case.kind == "sftp":
        members["ssh"] = {"knownHosts": str(server.known_hosts), "key": str(server.user_key), "agent": False, "user": "root"}
    if case.kind == "s3":
        members["s3"] = {"endpoint": f"http://{SERVER_ADDRESS}:9000"}
    return json.dumps(members)


def run(case, binary, keep=None):
    folder = Path(tempfile.mkdtemp(prefix="hole."))
    try:
        with Lab(delay=25, rate=RATE, queue=200, seed=3) as lab:
            return measure(case, binary, lab, folder)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def measure(case, binary, lab, folder):
    server = servers.Servers(lab, folder / "server")
    server.start(case.kind)
    local = folder / "local"
    local.mkdir()
    each = case.size // case.files
    contents = [random.Random(number).randbytes(each) for number in range(case.files)]
    for number, content in enumerate(contents):
        ((server.root if case.way == "get" else local) / f"file-{number}").write_bytes(content)
    (folder / "jobs.jsonl").write_text("".join(job(case, server, n, local) + "\n" for n in range(case.files)))
    if case.when:
        lab.tell(f"when {case.when} {case.cut}")
    else:
        lab.tell(case.cut)
    begun = time.monotonic()
    environment = dict(ENVIRONMENT, HOME=str(folder), USER="root", **S3)
    with open(folder / "out.jsonl", "wb") as out, open(folder / "err.log", "wb") as err:
        process = lab.start(
            "client", [binary, "run", str(folder / "jobs.jsonl"), "--state", str(folder / "state"), "--no-config",
                       "--json", "-j", "16", "--per-host", "16", *case.options],
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment)
    while case.when and lab.counts()["triggers"] and process.poll() is None:
        time.sleep(0.01)
    cut_at = time.monotonic()
    if case.seconds:
        time.sleep(case.seconds)
        lab.tell("state=passing carrier=1" if "carrier" in case.cut else "state=passing")
    restored = time.monotonic()
    main = "down" if case.way == "get" else "up"
    before = lab.counts()[main]["payload"]
    rest = max(0, case.size - before)
    ideal = rest * 8 / RATE / 1e6
    first = None
    bound = restored + ideal + max(60, case.seconds)
    while process.poll() is None and time.monotonic() < bound:
        if first is None and lab.counts()[main]["payload"] > before + min(50_000, rest // 2):
            first = time.monotonic() - restored
        time.sleep(0.02)
    ended = time.monotonic()
    result = {"case": case.name, "late": ended - restored - ideal, "resumed": first,
              "total": ended - begun, "before": cut_at - begun}
    faults = []
    if process.poll() is None:
        faults.append("did not end")
        lab.end(process)
    elif process.returncode:
        faults.append(f"exit status {process.returncode}")
    counts = lab.counts()
    result["twice"] = (counts[main]["payload"] - case.size) / case.size
    if not faults:
        faults += wrong_contents(case, server, local, contents, folder)
    if result["late"] > case.late:
        faults.append(f"{result['late']:.1f} s late")
    if case.kind in ("http", "https", "h2") and case.way == "put":
        result["requests"] = sum(request[0] == "PUT" for request in server.requests())
    events = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines() if line.startswith("{")]
    result["retries"] = [
        str(event.get("error", {}).get("message", event.get("error", event.get("reason", "?"))))[:90]
        for event in events if "retry" in str(event.get("event", "")).lower() or "retry" in str(event.get("type", "")).lower()]
    result["errors"] = (folder / "err.log").read_text()[-300:]
    result["faults"] = faults
    return result


def wrong_contents(case, server, local, contents, folder):
    wrong = []
    for number, content in enumerate(contents):
        if case.way == "get":
            there = (local / f"file-{number}").read_bytes()
        elif case.kind == "s3":
            server.get_from_s3(f"file-{number}", folder / "got")
            there = (folder / "got").read_bytes()
        elif case.kind == "tus":
            there = content if any(
                file.suffix != ".info" and file.read_bytes() == content
                for file in (folder / "server/tus").iterdir() if file.is_file()) else b""
        else:
            there = (server.root / f"file-{number}").read_bytes()
        if there != content:
            wrong.append(f"file {number} differs")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if lack := missing():
        sys.exit(f"holes: {lack}")
    chosen = [case for case in cases() if all(text in case.name for text in options.only)]
    if options.list:
        return print("\n".join(case.name for case in chosen))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(run, case, os.path.abspath(options.binary), options.keep): case for case in chosen}
        for future in concurrent.futures.as_completed(futures):
            try:
                result = future.result()
            except Exception as error:  # noqa: BLE001 — a case that breaks is a failed case
                result = {"case": futures[future].name, "faults": [repr(error)], "late": -1, "total": 0}
            failed += bool(result["faults"])
            resumed = result.get("resumed")
            print(f"{'FAIL' if result['faults'] else 'ok  '} {result['case']}: late {result['late']:.1f} s, resumed "
                  f"{'-' if resumed is None else format(resumed, '.1f')}, twice {result.get('twice', 0):+.3f}, requests "
                  f"{result.get('requests', '-')}, retries {result.get('retries')} {result['faults']} "
                  f"{result.get('errors', '')}".rstrip(), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
