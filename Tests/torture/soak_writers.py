"""People at work in the watched folders of a soak: files that are made, rewritten, renamed and finished at their pace."""

import hashlib
import json
import os
import random
import threading
import time

KIB = 1 << 10
SIZES = [0, 1, 900, 12 * KIB, 60 * KIB, 60 * KIB, 300 * KIB, 1500 * KIB]
# Past the smallest part of S3 and of the tests' chunks, now and then.
LARGE = 11 << 20


class Version:
    """The contents that a file had when a writer had finished it."""

    def __init__(self, digest, size):
        self.digest, self.size, self.time = digest, size, time.time()


class Books:
    """Every version of every file, and which one stands there last; on record for those who look for a fault's cause."""

    def __init__(self, record):
        self.record = open(record, "w", buffering=1)
        self.lock = threading.Lock()
        self.versions = {}  # (folder, name): [Version]
        self.last = {}  # (folder, name): Version, or None where the writer took the file away

    def finished(self, folder, name, digest, size, way):
        with self.lock:
            version = Version(digest, size)
            self.versions.setdefault((folder, name), []).append(version)
            self.last[folder, name] = version
            self.note(folder, name, version, way)

    def note(self, folder, name, version, way):
        entry = {"time": version.time, "folder": folder, "name": name, "way": way, "size": version.size}
        self.record.write(json.dumps(entry | {"digest": version.digest}) + "\n")

    def renamed(self, folder, old, new):
        with self.lock:
            version = self.last[folder, old]
            self.last[folder, old] = None
            self.versions.setdefault((folder, new), []).append(version)
            self.last[folder, new] = version
            self.note(folder, new, version, f"renamed from {old}")


class Writer(threading.Thread):
    """Works until it is stopped; its names are its own, so that it alone says what stands under them.

    - folders: each with the ways in which files may come to it.
    - pause: seconds between two files, on average.
    """

    def __init__(self, name, seed, folders, books, pause):
        super().__init__(name=name, daemon=True)
        self.chance, self.folders, self.books, self.pause = random.Random(seed), folders, books, pause
        self.stopped = threading.Event()
        self.number = 0
        self.made = {folder.name: [] for folder in folders}
        self.trouble = None

    def run(self):
        try:
            while not self.stopped.wait(self.chance.expovariate(1 / self.pause)):
                self.work()
        except Exception as trouble:  # A writer that stops must not pass for one that had nothing to write.
            self.trouble = trouble
            raise

    def work(self):
        folder = self.chance.choice(self.folders)
        getattr(self, self.chance.choice(folder.ways))(folder)

    def data(self):
        size = LARGE if self.chance.random() < 0.01 else self.chance.choice(SIZES)
        # An empty file is like every other one: nothing tells two of them apart.
        return self.chance.randbytes(max(size, 1) if self.chance.random() < 0.9 else 0)

    def fresh(self, folder):
        self.number += 1
        name = f"{self.name}-{self.number:05}.{self.chance.choice(['dat', 'txt', 'mp4'])}"
        self.made[folder.name] = [*self.made[folder.name][-30:], name]
        return name

    def known(self, folder):
        return self.chance.choice(self.made[folder.name]) if self.made[folder.name] else self.fresh(folder)

    # The ways

    def slowly(self, folder):
        """Under its own name, in pieces, with the file open for all that time."""
        self.write(folder, self.fresh(folder), "wb")

    def rewritten(self, folder):
        """A name that was there before, emptied and written in place."""
        self.write(folder, self.known(folder), "wb")

    def appended(self, folder):
        """What is there, or what was moved away, gets a further part."""
        name = self.known(folder)
        path = folder.path / name
        try:
            before = path.read_bytes()
            file = open(path, "r+b")
        except FileNotFoundError:
            return self.write(folder, name, "wb")
        data = self.chance.randbytes(self.chance.choice([1, 5000, 80 * KIB]))
        with file:
            file.seek(0, os.SEEK_END)
            file.write(data)
        whole = before + data
        # What was moved or deleted while it was open has no name that is this writer's.
        self.finished(folder, name, whole)

    def by_rename(self, folder):
        self.put_in_place(folder, self.fresh(folder))

    def anew(self, folder):
        """Another file takes the place of the one of that name."""
        self.put_in_place(folder, self.known(folder))

    def renamed(self, folder):
        """A file that was finished gets another name, if it is still there."""
        old, new = self.known(folder), self.fresh(folder)
        if self.books.last.get((folder.name, old)) is None:
            return self.put_in_place(folder, new)
        try:
            os.rename(folder.path / old, folder.path / new)
        except FileNotFoundError:
            return self.put_in_place(folder, new)
        self.books.renamed(folder.name, old, new)

    def put_in_place(self, folder, name):
        data = self.data()
        hidden = folder.path / self.chance.choice([f".{name}.tmp", f"{name}.part", f"~${name}"])
        self.pour(hidden, data, "wb")
        os.rename(hidden, folder.path / name)
        self.books.finished(folder.name, name, hashlib.sha256(data).hexdigest(), len(data), hidden.name)

    def write(self, folder, name, mode):
        data = self.data()
        self.pour(folder.path / name, data, mode)
        self.finished(folder, name, data)

    def finished(self, folder, name, data):
        self.books.finished(folder.name, name, hashlib.sha256(data).hexdigest(), len(data), "in place")

    def pour(self, path, data, mode):
        pieces = self.chance.randint(1, 6)
        length = max(1, -(-len(data) // pieces))
        with open(path, mode) as file:
            for start in range(0, max(1, len(data)), length):
                file.write(data[start : start + length])
                file.flush()
                if self.stopped.is_set():
                    continue
                # A program that makes a file takes its time.
                time.sleep(self.chance.choice([0, 0.05, 0.3, 1.2]))
