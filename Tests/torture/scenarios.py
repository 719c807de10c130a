"""Kinds of job: each makes its files and its job file, looks at the traces of a kill, and judges the end.

A fault is a pair: one of `corrupt`, `lost`, `twice`, `again`, `left`, and a sentence.
"""

import functools
import hashlib
import json
import os
import random
import shutil
import threading

MIB = 1 << 20
# What a kill may cost.
MOST_AGAIN = 4 * MIB
RETRY = {"scale": "20ms", "jitter": False}


@functools.lru_cache(maxsize=256)
def content(size, variant=0):
    return random.Random(size * 1000 + variant).randbytes(size)


@functools.lru_cache(maxsize=256)
def digest(size, variant=0):
    return hashlib.sha256(content(size, variant)).hexdigest()


def digest_of(path):
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(MIB):
            found.update(piece)
    return found.hexdigest()


class Scenario:
    """One batch in one folder, from its job file to its end."""

    kind = ""
    is_watched = False
    pace = None  # of bodies while it dies at failpoints, in bytes a second

    def __init__(self, place, number):
        self.place, self.server, self.number = place, place.server, number
        self.folder = place.folder / f"{self.kind}-{number}"
        self.folder.mkdir()
        self.runs = []
        self.faults = []
        self.repeated = []  # bytes fetched again, one figure a kill
        self.in_doubt = 0  # what was left to the user, who alone can say whether to send it again
        self.jobs = []
        self.make()

    def fault(self, kind, text):
        self.faults.append((kind, f"{self.kind}: {text}"))

    def write_jobs(self, **more):
        document = {"version": 1, "name": f"{self.kind}-{self.number}", "defaults": {"retry": RETRY}}
        document |= {"jobs": self.jobs} if self.jobs else {}
        (self.folder / "jobs.json").write_text(json.dumps(document | more, indent=1))

    def make(self):
        raise NotImplementedError

    def is_in_doubt(self, output):
        """Returns whether a run failed because the result of a request is unknown."""
        return False

    def wait_until_quiet(self):
        """Waits until the servers have noticed that a client is gone."""
        if not self.server.wait_until_quiet():
            self.fault("left", "the server still had connections of a killed client")

    def killed(self):
        self.wait_until_quiet()

    def ran(self):
        """Looks at one run's requests, before the next one or the end."""

    def finish(self):
        """Judges the end."""
        raise NotImplementedError

    def clean(self):
        self.server.forget(f"/{self.kind}-{self.number}/")
        self.server.forget(f"/draft/{self.kind}-{self.number}/")
        shutil.rmtree(self.folder, ignore_errors=True)


class Get(Scenario):
    """Downloads. The starts of ranges tell how much of what was there is fetched again."""

    # One connection: the sizes of partial files tell what is there.
    members = {"segments": 1}

    def make(self):
        self.sources = {}  # name: (size, variant)
        self.reached = {}  # name: bytes that were there at the last kill
        self.seen = {}  # name: requests that have been looked at
        self.plan()
        for name, (size, variant, has_digest) in self.sources.items():
            job = {"download": self.offer(name, content(size, variant)), "to": f"in/{name}", **self.members}
            if has_digest:
                job["checksum"] = f"sha256:{digest(size, variant)}"
            self.jobs.append(job)
        self.write_jobs()

    def path(self, name):
        return f"/{self.kind}-{self.number}/{name}"

    def offer(self, name, data):
        self.server.serve(self.path(name), data)
        return self.server.url(self.path(name))

    def requests(self, name):
        return self.server.ranges.get(self.path(name), [])

    def there(self, name):
        folder = self.folder / "in"
        # Workers of a queue that many machines share have partial files of their own.
        for candidate in (folder / name, folder / f"{name}.part", *folder.glob(f"{name}.*.part")):
            if candidate.exists():
                return candidate.stat().st_size
        return 0

    def ran(self):
        for name in self.sources:
            found = self.requests(name)[self.seen.get(name, 0) :]
            self.seen[name] = self.seen.get(name, 0) + len(found)
            starts = [start for start, status in found if status in (200, 206)]
            if starts and self.reached.get(name):
                again = max(0, self.reached[name] - min(starts))
                self.repeated.append(again)
                if again > MOST_AGAIN:
                    self.fault("again", f"{name}: {again >> 10} KiB of {self.reached[name] >> 10} fetched again")
            if starts:
                self.reached[name] = 0

    def killed(self):
        super().killed()
        self.ran()
        for name in self.sources:
            self.reached[name] = max(self.reached.get(name, 0), self.there(name))

    def finish(self):
        self.ran()
        for name, (size, variant, _) in self.sources.items():
            path = self.folder / "in" / name
            if not path.exists():
                self.fault("lost", f"{name} isn't there")
            elif digest_of(path) != digest(size, variant):
                self.fault("corrupt", f"{name} has other bytes ({path.stat().st_size} of {size})")
        strays = sorted(set(os.listdir(self.folder / "in")) - set(self.sources))
        if strays:
            self.fault("left", f"{', '.join(strays[:5])} left behind")


class GetDigest(Get):
    kind = "get-digest"

    def plan(self):
        self.sources = {"large": (66 * MIB, 0, True)}


class GetPlain(Get):
    kind = "get-plain"

    def plan(self):
        self.sources = {"large": (66 * MIB, 0, False)}


class GetSmall(Get):
    kind = "get-small"

    def plan(self):
        chance = random.Random(1)
        for number in range(60):
            size = chance.choice([0, 1, 700, 4096, 40_000, 255 << 10, 300 << 10] if number else [MIB])
            self.sources[f"f{number}"] = (size, number, number % 2 == 0)


class GetSegments(Get):
    """Eight connections to two mirrors: the map beside the partial file tells what is there."""

    kind = "get-segments"
    # Slow enough for the first connection not to have everything before others are asked.
    pace = 30 * MIB
    members = {"segments": 8}

    def plan(self):
        self.sources = {"large": (40 * MIB, 0, True)}

    def offer(self, name, data):
        self.mirrors = [self.path(name), self.path(name) + ".mirror"]
        for path in self.mirrors:
            self.server.serve(path, data)
        return [self.server.url(path) for path in self.mirrors]

    def ran(self):
        """What is fetched again is known at the end, from all that was sent."""

    def killed(self):
        self.wait_until_quiet()
        self.kills = getattr(self, "kills", 0) + 1

    def finish(self):
        super().finish()
        sent = sum(self.server.sent.get(path, 0) for path in self.mirrors)
        kills = getattr(self, "kills", 0)
        again = max(0, sent - self.sources["large"][0])
        if kills:
            self.repeated.append(again // kills)
        # What was on its way in eight connections, and a piece of each.
        if again > (kills + 1) * 2 * MIB:
            self.fault("again", f"{again >> 10} KiB fetched again in {kills} kills")


class GetCut(Get):
    """Downloads whose attempts also break off without a kill."""

    kind = "get-cut"

    def plan(self):
        self.sources = {"cut": (6 * MIB, 0, False)}

    def offer(self, name, data):
        self.server.serve(self.path(name), data, cuts=[2 * MIB, 1 * MIB])
        return self.server.url(self.path(name))


class GetNginx(Get):
    kind = "get-nginx"

    def plan(self):
        self.sources = {"large": (66 * MIB, 0, True), "other": (5 * MIB, 0, False), "small": (9000, 0, False)}

    def path(self, name):
        return f"/{self.kind}-{self.number}-{name}"

    def offer(self, name, data):
        (self.place.nginx.root / self.path(name)[1:]).write_bytes(data)
        return self.place.nginx.url(self.path(name))

    def requests(self, name):
        return self.place.nginx.log("GET", self.path(name))

    def wait_until_quiet(self):
        if not self.place.nginx.wait_until_quiet():
            self.fault("left", "nginx still had connections of a killed client")

    def ran(self):
        self.place.nginx.wait_until_quiet()
        super().ran()

    def clean(self):
        super().clean()
        for name in self.sources:
            (self.place.nginx.root / self.path(name)[1:]).unlink()


class Send(Scenario):
    """Uploads; the server counts the bodies that came whole."""

    sizes = {}  # name: size
    members = {}

    def make(self):
        (self.folder / "out").mkdir()
        for name, size in self.sizes.items():
            (self.folder / "out" / name).write_bytes(content(size, 7))
            self.jobs.append({"upload": f"out/{name}", "to": self.target(name), **self.members})
        self.write_jobs()

    def path(self, name):
        return f"/{self.kind}-{self.number}/{name}"

    def target(self, name):
        return self.server.url(self.path(name))

    def bodies(self, name):
        """Returns the SHA-256 of each body that came whole."""
        return self.server.whole.get(self.path(name), [])

    def finish(self):
        for name, size in self.sizes.items():
            bodies = self.bodies(name)
            if len(bodies) > 1:
                self.fault("twice", f"{name} was sent {len(bodies)} times")
            if not bodies and not self.may_lack(name):
                self.fault("lost", f"{name} didn't arrive")
            if any(body != digest(size, 7) for body in bodies):
                self.fault("corrupt", f"{name} arrived with other bytes")
            if digest_of(self.folder / "out" / name) != digest(size, 7):
                self.fault("corrupt", f"the source of {name} was changed")

    def may_lack(self, name):
        return False


class Put(Send):
    kind = "put"
    sizes = {"large": 6 * MIB, "middle": 300 << 10, "small": 900, "joined": 12 << 10}


class PutNginx(Send):
    kind = "put-nginx"
    sizes = {"large": 6 * MIB, "small": 900}

    def path(self, name):
        return f"/{self.kind}-{self.number}-{name}"

    def target(self, name):
        return self.place.nginx.url(self.path(name))

    def wait_until_quiet(self):
        if not self.place.nginx.wait_until_quiet():
            self.fault("left", "nginx still had connections of a killed client")

    def bodies(self, name):
        self.place.nginx.wait_until_quiet()
        count = sum(status in (201, 204) for _, status in self.place.nginx.log("PUT", self.path(name)))
        file = self.place.nginx.root / self.path(name)[1:]
        return [digest_of(file)] * count if file.exists() else []

    def clean(self):
        super().clean()
        for name in self.sizes:
            (self.place.nginx.root / self.path(name)[1:]).unlink(missing_ok=True)


class Post(Send):
    """A POST that may have arrived is never repeated: the user is asked."""

    kind = "post"
    sizes = {"large": 5 * MIB, "middle": 300 << 10, "small": 900}
    members = {"protocol": "post"}

    def is_in_doubt(self, output):
        return '"mayHaveBeenSent"' in output

    def may_lack(self, name):
        # A run that was in doubt has said so; how many it was is the last run's to say.
        return self.in_doubt > 0


class Draft(Send):
    """A resumable upload: its bytes go to one resource, which is the target's once."""

    kind = "resumable"
    sizes = {"large": 9 * MIB, "small": 2000}
    members = {"protocol": "resumable", "chunkSize": "3M"}

    def path(self, name):
        return f"/draft/{self.kind}-{self.number}/{name}"


class SendTus(Send):
    kind = "tus"
    sizes = {"large": 9 * MIB, "small": 2000}
    members = {"protocol": "tus", "chunkSize": "3M"}

    def make(self):
        # Its server knows uploads by the names of their files.
        self.sizes = {f"{name}-{self.number}": size for name, size in type(self).sizes.items()}
        super().make()

    def target(self, name):
        return self.place.peers.tus.target

    def bodies(self, name):
        return [digest_of(file) for file in self.place.peers.tus.whole(name)]


class OnS3:
    """The common part of S3 jobs: keys of their own in one bucket."""

    def make(self):
        (self.folder / "secret").write_text("secret")
        access = {"endpoint": self.place.peers.s3.url(""), "accessKey": "a", "secretKey": {"file": "secret"}}
        self.members = {"chunkSize": "5M", "parallel": 1, "s3": access}
        super().make()

    def key(self, name):
        return f"{self.kind}-{self.number}/{name}"

    def target(self, name="{path}"):
        return f"s3://bucket/{self.key(name)}"

    def bodies(self, name):
        found = self.place.peers.s3.content(self.key(name))
        return [] if found is None else [hashlib.sha256(found).hexdigest()]

    def finish(self):
        super().finish()
        unfinished = self.place.peers.s3.unfinished(f"{self.kind}-{self.number}/")
        if unfinished:
            self.fault("left", f"{unfinished} multipart uploads left on the server")


class SendS3(OnS3, Send):
    kind = "s3"
    sizes = {"large": 11 * MIB, "small": 2000}


class Form(Post):
    """A form is a POST: one that may have arrived is never repeated."""

    kind = "form"
    members = {"protocol": "multipart"}


class OnFileServer:
    """What jobs of FTP and SFTP have in common: a folder of their own on a server that isn't HTTP's."""

    peer = ""  # the name of the place's server

    @property
    def files(self):
        return getattr(self.place, self.peer)

    def base(self):
        return f"/{self.kind}-{self.number}"

    def make(self):
        self.files.file(self.base()).mkdir()
        super().make()

    def wait_until_quiet(self):
        if not self.files.wait_until_quiet():
            self.fault("left", f"{self.peer} still had connections of a killed client")

    def stray(self, expected):
        folder = self.files.file(self.base())
        there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        strays = sorted(there - set(expected))
        if strays:
            self.fault("left", f"{', '.join(strays[:5])} left on the server")

    def bodies(self, name):
        path = f"{self.base()}/{name}"
        file = self.files.file(path)
        return [digest_of(file)] * max(1, self.files.times_stored(path)) if file.exists() else []

    def clean(self):
        super().clean()
        shutil.rmtree(self.files.file(self.base()))


class GetFiles(OnFileServer, Get):
    def plan(self):
        self.sources = {"large": (24 * MIB, 0, False), "known": (9 * MIB, 0, True), "small": (9000, 0, False)}

    def make(self):
        self.members = self.files.members | {"segments": 1}
        super().make()

    def path(self, name):
        return f"{self.base()}/{name}"

    def offer(self, name, data):
        self.files.file(self.path(name)).write_bytes(data)
        return self.files.url(self.path(name))

    def requests(self, name):
        return self.files.reads(self.path(name))


class GetFTP(GetFiles):
    kind, peer = "get-ftp", "ftp"


class GetSFTP(GetFiles):
    kind, peer = "get-sftp", "ssh"


class SendFiles(OnFileServer, Send):
    sizes = {"large": 9 * MIB, "small": 2000}

    def make(self):
        self.members = self.files.members
        super().make()

    def target(self, name):
        return self.files.url(f"{self.base()}/{name}")

    def finish(self):
        super().finish()
        self.stray(self.sizes)


class SendFTP(SendFiles):
    kind, peer = "ftp", "ftp"


class SendSFTP(SendFiles):
    kind, peer = "sftp", "ssh"


class Watch(Scenario):
    """A watched folder, whose files are uploaded, by PUT where nothing else is said. There is an end when each has arrived and been dealt with."""

    is_watched = True
    then = "keep"
    members = {}
    sizes = {"large": 5 * MIB, "middle": 300 << 10, "small": 900, "sub/joined": 12 << 10, "empty": 0}
    later = {"later": 2000, "later-large": 5 * MIB}

    def make(self):
        self.expected = {}
        for name, size in self.sizes.items():
            self.add(name, size)
        self.lock = threading.Lock()
        folder = {
            "folder": "out", "to": self.target(), "recursive": True, "settle": "20ms", "then": self.action(),
            **self.members,
        }
        self.write_jobs(watch=[folder])

    def target(self):
        return self.server.url(f"/{self.kind}-{self.number}/") + "{path}"

    def action(self):
        return self.then

    def add(self, name, size):
        path = self.folder / "out" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        hidden = path.with_name("." + path.name)
        hidden.write_bytes(content(size, 9))
        hidden.rename(path)
        self.expected[name] = digest(size, 9)

    def killed(self):
        super().killed()
        # Work continues while the watcher is down.
        for name, size in self.later.items():
            if name not in self.expected:
                self.add(name, size)

    def bodies(self, name):
        return self.server.whole.get(f"/{self.kind}-{self.number}/{name}", [])

    def is_done(self):
        return all(self.bodies(name) and self.is_settled(name) for name in self.expected)

    def is_settled(self, name):
        return True

    def finish(self):
        for name, expected in self.expected.items():
            bodies = self.bodies(name)
            if not bodies:
                self.fault("lost", f"{name} didn't arrive")
            if len(bodies) > 1:
                self.fault("twice", f"{name} was sent {len(bodies)} times")
            if any(body != expected for body in bodies):
                self.fault("corrupt", f"{name} arrived with other bytes")
            self.judge(name, expected)
        strays = [path for path in (self.folder / "out").rglob(".*")]
        if strays:
            self.fault("left", f"{', '.join(path.name for path in strays[:5])} left behind")

    def judge(self, name, expected):
        path = self.folder / "out" / name
        if not path.exists():
            self.fault("lost", f"{name} is gone")
        elif digest_of(path) != expected:
            self.fault("corrupt", f"{name} was changed")


class WatchKeep(Watch):
    kind = "watch-keep"


class WatchDelete(Watch):
    kind = "watch-delete"
    then = "delete"

    def is_settled(self, name):
        return not (self.folder / "out" / name).exists()

    def judge(self, name, expected):
        if (self.folder / "out" / name).exists():
            self.fault("left", f"{name} is still there")


class WatchMove(Watch):
    kind = "watch-move"

    def sent(self):
        return self.folder / "sent"

    def action(self):
        self.sent().mkdir(parents=True, exist_ok=True)
        return {"move": str(self.sent())}

    def is_settled(self, name):
        return not (self.folder / "out" / name).exists() and (self.sent() / name).exists()

    def judge(self, name, expected):
        path = self.sent() / name
        if not path.exists():
            return self.fault("lost", f"{name} isn't where it was to be moved")
        if digest_of(path) != expected:
            self.fault("corrupt", f"{name} was moved with other bytes")
        if (self.folder / "out" / name).exists():
            self.fault("left", f"{name} is still there")

    def finish(self):
        super().finish()
        there = {str(path.relative_to(self.sent())) for path in self.sent().rglob("*") if path.is_file()}
        if there - set(self.expected):
            self.fault("left", f"{', '.join(sorted(there - set(self.expected))[:5])} among what was moved")


class WatchMoveFar(WatchMove):
    """To another file system: a copy, and then the file is deleted."""

    kind = "watch-move-far"

    def sent(self):
        return self.place.far / f"{self.kind}-{self.number}"

    def clean(self):
        super().clean()
        shutil.rmtree(self.sent(), ignore_errors=True)


class WatchFTP(OnFileServer, WatchDelete):
    kind, peer = "watch-ftp", "ftp"

    def make(self):
        self.members = self.files.members | {"createFolders": True}
        super().make()

    def target(self):
        return self.files.url(f"{self.base()}/") + "{path}"

    def finish(self):
        super().finish()
        self.stray(self.expected)


class WatchS3(OnS3, WatchDelete):
    kind = "watch-s3"
    sizes = {"large": 11 * MIB, "small": 900, "sub/joined": 12 << 10, "empty": 0}
    later = {"later": 2000, "later-large": 6 * MIB}


class WatchTus(WatchDelete):
    kind = "watch-tus"

    def make(self):
        # Its server knows uploads by the names of their files.
        self.sizes = {f"{name}-{self.number}": size for name, size in (("large", 7 * MIB), ("small", 900))}
        self.later = {f"{name}-{self.number}": size for name, size in (("later", 2000), ("later-large", 5 * MIB))}
        self.members = {"protocol": "tus", "chunkSize": "3M"}
        super().make()

    def target(self):
        return self.place.peers.tus.target

    def bodies(self, name):
        return [digest_of(file) for file in self.place.peers.tus.whole(name)]


OWN = [GetDigest, GetPlain, GetSegments, GetSmall, GetCut, GetNginx, Put, PutNginx, Post, Form, Draft]
WATCHED = [WatchKeep, WatchDelete, WatchMove, WatchMoveFar]
FROM_PYPI = [SendTus, SendS3, WatchS3, WatchTus]
BY_FTP = [GetFTP, SendFTP, WatchFTP]
BY_SSH = [GetSFTP, SendSFTP]
