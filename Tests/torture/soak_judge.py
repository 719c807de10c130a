"""The result of each file of a soak: at its server, in its folder, at its new place, and in the reports of its hooks."""

import collections
import json
import os
import re
import subprocess
import time
from pathlib import Path

import peers
from scenarios import digest_of

# What a queue's state consists of.
STATE = re.compile(r"queue\.(sqlite|sqlite-wal|sqlite-shm|locks)$")
FINISHED = ("finished", "kept")


def lines_of(text):
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            # The log for people, and a line that a kill cut.
            continue


class Judge:
    def __init__(self, soak):
        self.soak, self.books = soak, soak.books
        self.faults = list(soak.faults)
        self.late = []
        self.digests = {}  # (path, size, changed): digest

    def fault(self, kind, text):
        self.faults.append((kind, text))

    def digest(self, path):
        """Returns the SHA-256 of a file, or None where there is none."""
        try:
            seen = path.stat()
            key = str(path), seen.st_ino, seen.st_size, seen.st_mtime_ns
            if key not in self.digests:
                self.digests[key] = digest_of(path)
            return self.digests[key]
        except FileNotFoundError:
            return None

    # What arrived

    def look(self):
        """Reads all records anew."""
        self.arrivals = collections.defaultdict(list)  # (folder, name): digests in their order; None is not known
        for entry in lines_of((self.soak.inbox.home / "record.jsonl").read_text()):
            folder, _, name = entry["path"].lstrip("/").partition("/")
            self.arrivals[folder, name].append(entry["digest"])
        if "tus" in self.soak.folders:
            self.look_at_tus()
        self.read_hooks()
        self.read_outputs()

    def look_at_tus(self):
        self.tus_left = []
        found = []
        for info in self.soak.tus.files.glob("*.info"):
            try:
                about = json.loads(info.read_text())
            except (ValueError, FileNotFoundError):
                continue
            file = info.with_suffix("")
            if not file.exists():
                continue
            size, name = file.stat().st_size, about.get("metadata", {}).get("filename")
            if size == about["size"]:
                found.append((file.stat().st_mtime_ns, name, file))
            elif size:
                # One without a byte is a creation whose answer was lost: its client never heard of it.
                self.tus_left.append(f"{name}: {size} of {about['size']} B")
        for _, name, file in sorted(found):
            self.arrivals["tus", name].append(self.digest(file))

    def read_hooks(self):
        self.messages = collections.defaultdict(list)  # (folder, name): messages
        entries = [entry["message"] for entry in lines_of((self.soak.hooks.home / "record.jsonl").read_text())]
        if self.soak.told.exists():
            entries += lines_of(self.soak.told.read_text())
        for message in entries:
            self.messages[self.place(message["batch"], message["job"], message.get("to"))].append(message)

    def read_outputs(self):
        self.repeats = collections.Counter()  # (folder, name): how often it was said that a file begins anew or may be there
        self.ends = set()  # (folder, name, job) of ends that were reported as success
        self.doubts = {}  # (folder, name): whether the last end of it says that it may have arrived
        self.other_names = set()  # (folder, name) of which it was said that they are other names of uploaded files
        for watcher in self.soak.watchers:
            doubted = set()
            for output in watcher.outputs():
                for entry in lines_of(output):
                    if entry.get("event") == "watch.notUploaded":
                        self.other_names.add((Path(entry["folder"]).name, entry["path"]))
                    if "id" not in entry:
                        continue
                    event, place = entry.get("event"), self.place(entry["batch"], entry["id"], entry.get("to"))
                    is_doubt = event == "job.failed" and entry.get("code") == "mayHaveBeenSent"
                    # Each start of a watcher says again which files are in doubt.
                    if event == "job.restarted" or is_doubt and (place, entry["id"]) not in doubted:
                        self.repeats[place] += 1
                    if is_doubt:
                        doubted.add((place, entry["id"]))
                    if event in ("job.finished", "job.kept", "job.failed"):
                        self.doubts[place] = is_doubt
                    if event in ("job.finished", "job.kept"):
                        self.ends.add((*place, entry["id"]))

    def place(self, batch, job, url=None):
        """Returns the folder and the name of a job; its URL has the name that the file got while it waited."""
        folder = Path(batch.removeprefix("watch:")).name
        if url and folder != "tus":
            return folder, url.rpartition("/")[2]
        return folder, job.rpartition("@")[0]

    def stored(self, folder, name):
        """Returns the digest of what the server has under the name now, or None."""
        if folder in ("put", "tus"):
            found = self.arrivals.get((folder, name))
            return found[-1] if found else None
        roots = {"ftp": lambda: self.soak.ftp.file("/in"), "sftp": lambda: self.soak.ssh.file("/in"),
                 "s3": lambda: self.soak.s3.root / "bucket/in"}
        return self.digest(roots[folder]() / name)

    def has_arrived(self, folder, name, version):
        if folder == "post":
            return version.digest in self.arrivals.get((folder, name), [])
        return self.stored(folder, name) == version.digest

    def moved(self, folder):
        """Returns the digests of the files that were moved, with how often each is there."""
        if not folder.moved:
            return None
        return collections.Counter(self.digest(path) for path in folder.moved.rglob("*") if path.is_file())

    def open_points(self):
        """Returns what has still to happen, each in a sentence."""
        self.look()
        found = []
        names = collections.defaultdict(set)  # (folder, digest): the names that such a file has had
        for (name, file), versions in self.books.versions.items():
            for version in versions:
                names[name, version.digest].add(file)
        moved = {name: self.moved(folder) for name, folder in self.soak.folders.items()}
        for (name, file), version in self.books.last.items():
            folder = self.soak.folders[name]
            is_there = (folder.path / file).exists()
            if version is None:
                if is_there:
                    found.append(f"{name}/{file}: was renamed, and is there")
                continue
            had = names[name, version.digest]
            if is_there and any(self.doubts.get((name, other)) for other in had):
                continue
            if (name, file) in self.other_names and any(self.has_arrived(name, other, version) for other in had):
                # A file that was uploaded and renamed is no new one.
                if is_there:
                    found.append(f"{name}/{file}: arrived under another name, and is still in the folder")
                continue
            if not self.has_arrived(name, file, version):
                found.append(f"{name}/{file}: the last version ({version.size} B) didn't arrive")
            elif is_there:
                found.append(f"{name}/{file}: arrived, and is still in the folder")
            elif moved[name] is not None and not moved[name][version.digest]:
                found.append(f"{name}/{file}: arrived, and isn't among what was moved")
            if not any(message["state"] in FINISHED and message.get("bytes") in (None, version.size)
                       for message in self.messages[name, file]):
                found.append(f"{name}/{file}: nobody was told of its end")
        told = {(*place, message["job"]) for place, messages in self.messages.items() for message in messages
                if message["state"] in FINISHED}
        found += [f"{name}/{file}: {job} ended, and nobody was told" for name, file, job in sorted(self.ends - told)]
        return found

    def asked_again(self):
        """What only a restart brings is late: a watched folder has no end, and needs nobody."""
        self.late = self.open_points()
        for watcher in self.soak.watchers:
            watcher.stop()
            watcher.start()
        deadline = time.monotonic() + self.soak.options.quiet
        while self.open_points() and time.monotonic() < deadline:
            # As above.
            time.sleep(2)

    # The judgement

    def judge(self):
        for point in self.open_points():
            self.fault("untold" if "told" in point else "lost", point)
        still = {text for _, text in self.faults}
        for point in self.late:
            if point not in still:
                self.fault("late", f"only after a restart: {point}")
        in_doubt = sum(self.doubts.values())
        torn = 0
        for place, digests in self.arrivals.items():
            torn += self.judge_arrivals(place, digests)
        self.judge_counts("ftp", lambda path: self.soak.ftp.times_stored(path))
        self.judge_sessions()
        self.judge_folders()
        self.judge_leftovers()
        counts = collections.Counter(kind for kind, _ in self.faults)
        for kind, text in self.faults[:100]:
            print(f"{kind.upper()}: {text}", flush=True)
        versions = sum(map(len, self.books.versions.values()))
        print(f"{versions} versions of {len(self.books.versions)} files; {self.soak.kills} kills, {self.soak.stops} "
              f"stops; {sum(map(len, self.messages.values()))} messages")
        print(f"said to have begun anew or to be in doubt: {sum(self.repeats.values())}; in doubt at the end: {in_doubt}; "
              f"bodies that a rewriting tore, each said: {torn}")
        for kind, words in (("lost", "lost"), ("wrong", "wrong bytes"), ("twice", "twice without a word"),
                            ("left", "left behind"), ("untold", "untold"), ("late", "late")):
            print(f"{words} {counts[kind]}")
        return not self.faults

    def judge_arrivals(self, place, digests):
        """Returns how many bodies hold two versions, of which it was said that they began anew."""
        known = collections.Counter(version.digest for version in self.books.versions.get(place, []))
        name = "/".join(map(str, place))
        repeats = self.repeats[place]
        torn = [digest for digest in digests if digest not in known]
        if len(torn) > repeats:
            self.fault("wrong", f"{name}: {len(torn)} bodies are no version of the file, {repeats} said")
        again = sum(count - known[digest] for digest, count in collections.Counter(digests).items()
                    if digest in known and count > known[digest])
        if again > repeats:
            self.fault("twice", f"{name}: {again} came again, {repeats} said")
        return min(len(torn), repeats)

    def judge_counts(self, folder, times):
        if folder not in self.soak.folders:
            return
        for (name, file), versions in self.books.versions.items():
            if name == folder:
                count, repeats = times(f"/in/{file}"), self.repeats[name, file]
                if count > len(versions) + repeats:
                    self.fault("twice", f"{name}/{file}: {count} times, of {len(versions)} versions, {repeats} said")

    def judge_sessions(self):
        """As above, out of sshd's log, which is read once."""
        if "sftp" not in self.soak.folders:
            return
        text = self.soak.ssh.log.read_text(errors="replace")
        root = re.escape(str(self.soak.ssh.file("/in")))
        named = collections.Counter(re.findall(rf'rename old "[^"]*" new "{root}/([^"]*)"', text))
        self.judge_counts("sftp", lambda path: named[path.rpartition("/")[2]])

    def judge_folders(self):
        for name, folder in self.soak.folders.items():
            known = {file for of, file in self.books.versions if of == name}
            for path in folder.path.rglob("*"):
                if path.name not in known:
                    self.fault("left", f"{path} in the watched folder")
            if not folder.moved:
                continue
            digests = collections.Counter(
                version.digest for (of, _), versions in self.books.versions.items() if of == name
                for version in versions)
            for path in folder.moved.rglob("*"):
                if path.name.startswith(".") or not path.is_file():
                    self.fault("left", f"{path} among what was moved")
                elif self.digest(path) not in digests:
                    self.fault("wrong", f"{path} was moved with bytes of no version")
            for digest, count in self.moved(folder).items():
                if digest in digests and count > digests[digest]:
                    self.fault("twice", f"{count} files of one version were moved from {name}")

    def judge_leftovers(self):
        for watcher in self.soak.watchers:
            for path in (watcher.folder / "state").iterdir():
                if not STATE.match(path.name):
                    self.fault("left", f"{path}")
            for path in (watcher.folder / "tmp").iterdir():
                self.fault("left", f"{path}")
        for text in getattr(self, "tus_left", []):
            self.fault("left", f"tus has {text}")
        roots = {"ftp": lambda: self.soak.ftp.root, "sftp": lambda: self.soak.ssh.root,
                 "s3": lambda: self.soak.s3.root / "bucket"}
        for name in roots:
            if name not in self.soak.folders:
                continue
            known = {file for of, file in self.books.versions if of == name}
            for path in roots[name]().rglob("*"):
                # What rclone had of an object when it was killed has this end; it's the server's own.
                is_own = name == "s3" and path.name.endswith(".partial")
                if path.is_file() and path.name not in known and not is_own:
                    self.fault("left", f"{path} on the server")
        if "s3" in self.soak.folders:
            for upload in self.unfinished():
                self.fault("left", f"S3 has parts of {upload}")

    def unfinished(self):
        remote = (f":s3,provider=Other,access_key_id=access,secret_access_key=secret,endpoint='{self.soak.s3.url('')}':bucket")
        command = [peers.PYTHON.with_name("rclone"), "--config", os.devnull, "backend", "list-multipart-uploads", remote]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if "NoSuchUpload" in answer.stderr:
            # rclone's answer where it knows of none.
            return []
        if answer.returncode:
            return [f"unknown: {answer.stderr[-300:]}"]
        return [upload["Key"] for uploads in json.loads(answer.stdout).values() for upload in uploads or []]
