import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// A file system of 2 MiB, in a mount namespace of the command's own: the kernel reports that it is full.
@Suite(.enabled(if: FullDisk.canMount, "needs a user namespace or root to mount a small file system"))
struct FullDiskTests {
    private static let content = Content.random(seed: 7, count: 1_500_000)

    @Test func aFullDiskIsWaitedForAndSpaceIsUsedWhenItComes() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/big", ServedFile(Self.content, etag: "\"a\""))
            try place.jobs(
                [download(server.url("/big"), to: "small/big", #""id": "big""#)],
                extra: #""defaults": {"retry": {"scale": "200ms", "jitter": false}}, "#)
            let process = try FullDisk.start(place, "run", "jobs.json", "--json")
            let wait = try await process.event("job.waiting", id: "big")
            #expect(wait["for"]?.string == "disk")
            #expect(wait["reason"]?.string?.contains("small/big.part: no space left on device") == true)
            try place.folder.write("", to: "go")
            let events = try await process.result().events()
            #expect(events.ends == ["big": "finished"])
            #expect(events.named("job.retrying").isEmpty)
        }
    }

    /// Retries take minutes by their usual rule: the reason and the length of the wait are reported once, at the first
    /// retry.
    @Test(arguments: [["--progress", "none"], [], ["--quiet"]])
    func aFullDiskIsReportedOnceWithoutAScreen(_ options: [String]) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/big", ServedFile(Self.content, etag: "\"a\""))
            try place.jobs(
                [download(server.url("/big"), to: "small/big", #""id": "big""#)],
                extra: #""defaults": {"retry": {"scale": "100ms", "jitter": false}}, "#)
            let process = try FullDisk.start(place, ["run", "jobs.json"] + options)
            let line = try await process.line { $0.contains("no space left on device") }
            #expect(line.contains(" warn ") && line.contains("small/big.part: no space left"), "\(line)")
            #expect(line.contains(" at most"), "\(line)")
            try await until("it was tried a few times") { server.requests(to: "/big").count > 3 }
            try place.folder.write("", to: "go")
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            let reported = result.standardError.split(separator: "\n").count { $0.contains("no space left") }
            #expect(reported == 1, "\(result)")
        }
    }

    /// ext4's fallocate(2) keeps the blocks that it got before the disk was full.
    @Test(.enabled(if: FullDisk.canMountDisks, "needs root, mkfs.ext4 and a loop device"))
    func aDiskThatIsTooSmallIsNotFilled() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/big", ServedFile(.random(seed: 7, count: 40 << 20), etag: "\"a\""))
            try place.jobs([download(server.url("/big"), to: "small/big", #""id": "big", "retry": {"limit": 0}"#)])
            let result = try await FullDisk.startOnDisk(place, "run", "jobs.json", "--json").result()
            #expect(try result.events().named("job.failed").first?["code"]?.string == "diskFull", "\(result)")
            let free = Int(try place.folder.text("free").trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
            #expect(free > 5 << 20, "\(free)")
        }
    }

    /// The command accepts no job that it cannot record.
    @Test func aQueueWithoutSpaceNamesThePlaceAndTheRemedy() async throws {
        let place = try Workplace()
        var generator = SystemRandomNumberGenerator()
        let lines = (0..<20_000).map { number in
            let name = (0..<8).map { _ in String(generator.next(), radix: 16) }.joined()
            return #"{"download": "http://127.0.0.1:9/\#(name)", "to": "\#(number)"}"#
        }
        try place.folder.write(lines.joined(separator: "\n"), to: "many.jsonl")
        let process = try FullDisk.start(place, "run", "many.jsonl", "--state", "small/state")
        let result = try await process.result()
        #expect(result.exitCode == 74, "\(result.standardError)")
        let words =
            "small/state/queue.sqlite cannot be used: no space left on its disk; make room there and start again, "
            + "or name another folder with --state\n"
        #expect(result.standardError.hasSuffix(words) && result.standardError.count { $0 == "\n" } == 1)
        try place.folder.write("", to: "go")
    }

    @Test func whyNamesTheDiskAndAFullOneEndsTheJobAtLast() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/big", ServedFile(Self.content, etag: "\"a\""))
            let job = download(server.url("/big"), to: "small/big", #""id": "big""#)
            try place.jobs([job], extra: #""defaults": {"retry": {"scale": "300s", "jitter": false}}, "#)
            let process = try FullDisk.start(place, "run", "jobs.json", "--json")
            try await process.event("job.waiting", id: "big")
            try await until("the wait is recorded") {
                try await place.run("why", "batch/big").standardOutput.hasPrefix("batch/big: waiting for the disk, ")
            }
            let why = try await place.run("why", "batch/big")
            #expect(why.standardOutput.contains("  reason    cannot "))
            #expect(why.standardOutput.contains("no space left on device"))
            process.kill(SIGTERM)
            let log = try await process.result().standardError
            #expect(log.contains("warn big: cannot "))

            try place.jobs(
                [job], extra: #""defaults": {"retry": {"limit": 3, "scale": 0, "jitter": false}}, "#, name: "again")
            let events = try await FullDisk.start(place, "run", "jobs.json", "--json").result().events()
            #expect(events.ends == ["big": "failed"])
            #expect(events.named("job.failed").first?["code"]?.string == "diskFull")
            #expect(server.requests(to: "/big").count == 5)
        }
    }
}

private enum FullDisk {
    private static let unshare = ["--user", "--map-root-user", "--mount"]

    static var canMount: Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = unshare + ["mount", "-t", "tmpfs", "tmpfs", "/tmp"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    static var canMountDisks: Bool {
        geteuid() == 0 && access("/dev/loop-control", W_OK) == 0 && access("/usr/sbin/mkfs.ext4", X_OK) == 0
    }

    /// Starts the command where `small` is an ext4 of 16 MiB; `free` then holds the number of free bytes.
    static func startOnDisk(_ place: Workplace, _ arguments: String...) throws -> ChildProcess {
        let command = place.command(arguments)
        mkdir(place.folder.path("small"), 0o755)
        let script = """
            truncate -s 16M disk && /usr/sbin/mkfs.ext4 -q -m 0 disk && mount -o loop disk small || exit 99
            "$@"
            status=$?
            echo $(($(stat -f -c '%f * %S' small))) > free
            exit $status
            """
        return try ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/unshare",
                ["--mount", "/bin/bash", "-c", script, "bash", try TransferCommand.binary()] + arguments,
                environment: command.environment, workingFolder: command.workingFolder, timeout: command.timeout))
    }

    /// Starts the command where `small` is a full file system; a file `go` in the working folder frees space in it.
    static func start(_ place: Workplace, _ arguments: String...) throws -> ChildProcess {
        try start(place, arguments)
    }

    static func start(_ place: Workplace, _ arguments: [String]) throws -> ChildProcess {
        let command = place.command(arguments)
        mkdir(place.folder.path("small"), 0o755)
        unlink(place.folder.path("pipe"))
        let script = """
            mount -t tmpfs -o size=2m tmpfs small && head -c 1500000 /dev/zero > small/filler && mkfifo pipe || exit 99
            { while kill -0 $$ && [ ! -e go ]; do read -r -t 0.05 _ <> pipe; done; rm small/filler; } > /dev/null 2>&1 &
            exec "$@"
            """
        return try ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/unshare",
                unshare + ["/bin/bash", "-c", script, "bash", try TransferCommand.binary()] + arguments,
                environment: command.environment, workingFolder: command.workingFolder, timeout: command.timeout))
    }
}
