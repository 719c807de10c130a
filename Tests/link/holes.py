#!/usr/bin/env python3
"""Runs `transfer` over a link that has a hole: holes.py [--short] [--only TEXT] [--jobs N] BINARY.

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
    # The most that is allowed, beside what the kind and the number of files take: two seconds until bytes flow again,
    # and two for the growth of the window after a timeout.
    late: float = 4.0

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
                # Over HTTP/2 the parts of one file share a connection, and a part that is given up leaves much on it.
                one = ["--segments", "1"] if kind == "h2" and files == 1 else []
                found.append(Case("get", kind, files, "down.bytes=4000000", seconds=seconds, options=one))
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
    # Without a hole: the bytes that several connections of one file bring in vain.
    for kind in ("http", "https", "h2", "ftp", "sftp"):
        found.append(Case("get", kind, 1, "down.bytes=4000000", "state=passing", seconds=0))
    # A captive portal answers in place of the server, and name look-ups are answered late.
    for how in ("page", "redirect"):
        found.append(Case("get", "http", 1, "down.bytes=4000000", f"portal={how}", seconds=5))
        found.append(Case("get", "http", 4, "down.bytes=4000000", f"portal={how}", seconds=5))
    for seconds in (5, 8):
        found.append(Case("get", "http", 1, "", f"names={seconds}", seconds=0, size=200_000, late=seconds + 3))
    return found


# What `make test` runs: one case of each mechanism, without servers from PyPI.
SHORT = [
    "get https 1x12000000 state=hole down.bytes=4000000 10s", "get http 16x750000 state=hole down.bytes=4000000 10s",
    "put http 1x12000000 state=hole up.bytes=4000000 10s", "get http 1x200000 down.state=hole up.data=1 10s",
    "get https 1x12000000 forget down.bytes=4000000 0s", "put http 1x12000000 icmp=0 mtu=1200 up.bytes=4000000 0s",
    "get http 1x12000000 portal=page down.bytes=4000000 5s", "get h2 1x12000000 state=passing down.bytes=4000000 0s",
    "get sftp 1x12000000 state=passing down.bytes=4000000 0s",
]


# Cases that are known to fail. They are run and shown, and do not change the exit status.
# The parts of a single file over HTTP replace each other before any of them is taken for stuck.
KNOWN = {"get http 1x12000000 icmp=0 mtu=1200 down.bytes=4000000 0s"}


def allowed(case):
    """Seconds after the hole by which all is complete, beside what the rate takes: the sum of its reasons."""
    late = case.late
    if case.files > 1:
        # Slow start of all of them at once, through one queue.
        late += 2
    if case.kind in ("ftp", "sftp"):
        # Several round trips and a log-in for each connection; SFTP's own windows do not fill the link.
        late += 4
    if "forget" in case.cut or "icmp=0" in case.cut:
        # Nothing tells of it: silence of a second, two questions, and an answer to another connection.
        late += 2.5
        if case.way == "put":
            # A plain PUT begins anew: a third of its bytes were sent before.
            late += 3
        if case.way == "get" and "icmp" in case.cut:
            # A server that thinks looks the same for six seconds.
            late += 6
    if case.way == "put" and "down.state" in case.cut and case.size < SIZE:
        # The whole body is there, and its answer is the server's to send again: a timer as long as the hole.
        late += case.seconds
    if "portal" in case.cut:
        late += 3
    if case.size < SIZE:
        # A request that arrived late has its time for an answer before it is asked again, over a new connection.
        late += 0.5
    return late


def bytes_in_vain(case):
    """The share of a file's bytes that may come twice: parts that are cut have some on the way."""
    if case.way != "get" or case.files > 1 or case.size < SIZE:
        return None
    # A connection that is left after a hole had a window of bytes on its way, and so has each of its successors.
    return 0.15 if "passing" in case.cut else 0.3


def url(case, server, number):
    port = servers.PORTS[case.kind]
    scheme = {"h2": "https"}.get(case.kind, case.kind)
    if case.kind == "s3":
        return f"s3://bucket/file-{number}"
    if case.kind == "tus":
        return f"http://{SERVER_ADDRESS}:{port}/files/"
    if case.kind == "sftp":
        return f"sftp://{SERVER_ADDRESS}{server.root}/file-{number}"
    host = "server.test" if "names" in case.cut else SERVER_ADDRESS
    return f"{scheme}://{host}:{port}/file-{number}"


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
        members["ssh"] = {
            "knownHosts": str(server.known_hosts), "key": str(server.user_key), "agent": False, "user": "root"}
    if case.kind == "s3":
        members["s3"] = {"endpoint": f"http://{SERVER_ADDRESS}:9000"}
    return json.dumps(members)


def run(case, binary, keep=False, slack=0):
    folder = Path(tempfile.mkdtemp(prefix="hole."))
    try:
        with Lab(delay=25, rate=RATE, queue=200, seed=3) as lab:
            return measure(case, binary, lab, folder, slack)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def measure(case, binary, lab, folder, slack):
    server = servers.Servers(lab, folder / "server")
    server.start(case.kind)
    local = folder / "local"
    local.mkdir()
    each = case.size // case.files
    contents = [random.Random(number).randbytes(each) for number in range(case.files)]
    for number, content in enumerate(contents):
        ((server.root if case.way == "get" else local) / f"file-{number}").write_bytes(content)
    (folder / "jobs.jsonl").write_text("".join(job(case, server, n, local) + "\n" for n in range(case.files)))
    before_program = []
    is_portal, is_names = "portal" in case.cut, "names" in case.cut
    if is_names:
        before_program = server.start_names(case.cut.split("=")[1])
    elif case.when:
        lab.tell(f"when {case.when} {'state=hole' if is_portal else case.cut}")
    else:
        lab.tell(case.cut)
    begun = time.monotonic()
    environment = dict(ENVIRONMENT, HOME=str(folder), USER="root", **S3)
    with open(folder / "out.jsonl", "wb") as out, open(folder / "err.log", "wb") as err:
        process = lab.start(
            "client", [*before_program, binary, "run", str(folder / "jobs.jsonl"), "--state", str(folder / "state"),
                       "--no-config", "--json", "-j", "16", "--per-host", "16", *case.options],
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment)
    while case.when and lab.counts()["triggers"] and process.poll() is None:
        time.sleep(0.01)
    cut_at = time.monotonic()
    if is_portal:
        server.start_portal(case.cut.split("=")[1])
        lab.restore()
        time.sleep(case.seconds)
        server.end_portal()
    elif case.seconds:
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
    in_vain = bytes_in_vain(case)
    if in_vain is not None and result["twice"] > in_vain:
        faults.append(f"{result['twice']:.0%} of the bytes came twice, {in_vain:.0%} are allowed")
    if not faults:
        faults += wrong_contents(case, server, local, contents, folder)
    most = allowed(case) + slack
    if result["late"] > most:
        faults.append(f"complete {result['late']:.1f} s late, {most:.1f} s are allowed")
    if first is not None and first > most - 2:
        faults.append(f"resumed after {first:.1f} s, {most - 2:.1f} s are allowed")
    if case.kind in ("http", "https", "h2") and case.way == "put":
        result["requests"] = sum(request[0] == "PUT" for request in server.requests())
    events = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines() if line.startswith("{")]
    result["retries"] = sum(event["event"] == "job.retrying" for event in events)
    result["errors"] = (folder / "err.log").read_text()[-300:] if faults else ""
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


def described(result):
    resumed = result.get("resumed")
    words = [
        f"{'FAIL' if result['faults'] else 'ok  '} {result['case']}: late {result['late']:.1f} s",
        "resumed -" if resumed is None else f"resumed {resumed:.1f} s", f"twice {result.get('twice', 0):+.3f}",
        f"retries {result.get('retries', '-')}", f"requests {result.get('requests', '-')}"]
    return ", ".join(words) + "".join(f"\n     {line}" for line in [*result["faults"], result.get("errors")] if line)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--short", action="store_true", help="one case of each mechanism")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--only", action="append", default=[], help="cases whose name has this text")
    parser.add_argument("--keep", action="store_true", help="keep the folders of the cases")
    parser.add_argument("--slack", type=float, default=0, help="seconds that a busy machine may need besides")
    parser.add_argument("--jobs", type=int, default=1, help="cases at once")
    options = parser.parse_args()
    if lack := missing():
        sys.exit(f"holes: {lack}")
    chosen = [case for case in cases() if all(text in case.name for text in options.only)
              and (not options.short or case.name in SHORT)]
    if options.list:
        return print("\n".join(case.name for case in chosen))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        binary = os.path.abspath(options.binary)
        futures = {pool.submit(run, case, binary, options.keep, options.slack): case for case in chosen}
        for future in concurrent.futures.as_completed(futures):
            try:
                result = future.result()
            except Exception as error:  # noqa: BLE001 — a case that breaks is a failed case
                result = {"case": futures[future].name, "faults": [repr(error)], "late": -1, "total": 0}
            failed += bool(result["faults"]) and result["case"] not in KNOWN
            resumed = result.get("resumed")
            print(described(result), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
