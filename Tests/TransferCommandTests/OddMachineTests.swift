import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Machines without something that nearly all machines have: standard descriptors, `/proc`, free descriptors.
@Suite struct OddMachineTests {
    /// Starts the command as the last one of a shell's script, which has it as `"$@"`.
    private func start(_ place: Workplace, _ script: String, _ arguments: [String]) throws -> ChildProcess {
        let command = place.command(arguments)
        return try ChildProcess.start(
            ChildProcess.Command(
                "/bin/bash", ["-c", script, "bash", try TransferCommand.binary()] + arguments,
                environment: command.environment, workingFolder: command.workingFolder, timeout: command.timeout))
    }

    /// A socket or an eventfd of ours with the number of standard output would receive the output.
    @Test func descriptorsThatAreClosedAtTheStartStayOutOfTheWay() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"))
            server.script("/a", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a")])
            let process = try start(
                place, #"exec "$@" <&- >&- 2>&-"#, ["run", "jobs.json", "--json", "--report", "report"])
            try await server.waitForHeld(1)
            for number in 0...2 {
                let link = try FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/\(process.processID)/fd/\(number)")
                #expect(link == "/dev/null", "descriptor \(number)")
            }
            server.release()
            // The events of --json reached no reader.
            #expect(try await process.result().exitCode == 74)
            #expect(try place.folder.text("a") == "hello")
            #expect(try place.folder.text("report").contains(#""event":"job.finished""#))
        }
    }

    // MARK: Without /proc

    private static let withoutProc = #"mount -t tmpfs none /proc && exec "$@""#

    private func startWithoutProc(_ place: Workplace, _ arguments: String...) throws -> ChildProcess {
        let command = place.command(arguments)
        return try ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/unshare",
                ["--user", "--map-root-user", "--mount", "/bin/bash", "-c", Self.withoutProc, "bash"]
                    + [try TransferCommand.binary()] + arguments,
                environment: command.environment, workingFolder: command.workingFolder, timeout: command.timeout))
    }

    @Test(.enabled(if: SmallMounts.areAllowed, "needs a user namespace or root"))
    func theCommandWorksWithoutProc() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"))
            try place.jobs([download(server.url("/a"), to: "in/a")])
            let result = try await startWithoutProc(place, "run", "jobs.json", "--json").result()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("in/a") == "hello")
            let none = try await startWithoutProc(place, "run", "none.json").result()
            #expect(none.exitCode == 66 && none.standardError.contains("none.json"), "\(none)")
            let wrong = try await startWithoutProc(place, "run", "--no-such-option").result()
            #expect(wrong.exitCode == 64, "\(wrong)")
            let status = try await startWithoutProc(place, "status", "--json").result()
            #expect(status.standardOutput.contains(#""batch":"batch""#), "\(status)")
        }
    }

    /// The start of a process is unknown: its jobs are not taken from it.
    @Test(.enabled(if: SmallMounts.areAllowed, "needs a user namespace or root"))
    func withoutProcABatchIsRunOnce() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"))
            server.script("/a", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a")])
            let first = try startWithoutProc(place, "run", "jobs.json", "--json")
            try await server.waitForHeld(1)
            let second = try await startWithoutProc(place, "run", "jobs.json").result()
            #expect(second.exitCode == 75 && second.standardError.contains("process"), "\(second)")
            server.release()
            #expect(try await first.result().exitCode == 0)
            #expect(server.requests.count == 1)
        }
    }

    /// libdispatch opens the file for each of its threads now and then, and aborts the process when that fails.
    @Test func theStateOfAThreadCanAlwaysBeOpened() throws {
        typealias Open = @convention(c) (UnsafePointer<CChar>, CInt) -> CInt
        // The symbol is the one that libdispatch finds: the first of the process.
        let open = unsafeBitCast(try #require(dlsym(nil, "open")), to: Open.self)
        let nobodys = "/proc/2147483647/stat"
        let descriptor = open(nobodys, O_RDONLY | O_NONBLOCK)
        #expect(descriptor >= 0)
        var byte: UInt8 = 0
        #expect(read(descriptor, &byte, 1) == -1 && errno == EBADF)
        #expect(open(nobodys, O_RDONLY | O_CLOEXEC) == -1, "another's question")
        #expect(open("/proc/2147483647/status", O_RDONLY | O_NONBLOCK) == -1, "another file")
        let own = open("/proc/\(getpid())/stat", O_RDONLY | O_NONBLOCK)
        #expect(read(own, &byte, 1) == 1)
        close(own)
    }

    // MARK: Few descriptors

    @Test func aLackOfDescriptorsSpendsNoAttempt() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let jobs = (0..<60).map { number in
                server.serve("/\(number)", ServedFile(.random(seed: UInt64(number), count: 40_000)))
                return download(server.url("/\(number)"), to: "in/\(number)")
            }
            try place.jobs(jobs, extra: #""defaults": {"retry": {"limit": 0}}, "#)
            let result = try await start(
                place, #"ulimit -n 40; exec "$@""#, ["run", "jobs.json", "--json", "-j", "32", "--per-host", "32"]
            ).result()
            let events = try result.events()
            #expect(result.exitCode == 0, "\(result)")
            #expect(events.named("job.finished").count == 60)
            #expect(events.named("job.retrying").isEmpty && events.named("job.failed").isEmpty)
            #expect(events.named("job.finished").allSatisfy { $0["attempts"]?.int == 1 })
            let reported = events.named("batch.waiting").filter { $0["for"]?.string == "openFiles" }
            #expect(reported.count == 1, "\(result)")
            let words = reported.first?["reason"]?.string ?? ""
            #expect(
                words.contains("at a time for now, no attempt is spent") && words.contains("limit is 40"), "\(words)")
        }
    }

    /// The limit allows not even one transfer: the job reports it for its maximum wait, and no longer.
    @Test func aJobWithoutDescriptorsFailsInTheEndWithAReason() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"))
            try place.jobs(
                [download(server.url("/a"), to: "a")],
                extra: #""defaults": {"retry": {"scale": "10ms", "jitter": false, "maxWait": "1s"}}, "#)
            // The limits try each number of descriptors until the queue itself can be opened.
            for limit in 12...40 {
                let result = try await start(
                    place, "ulimit -n \(limit); exec \"$@\"", ["run", "jobs.json", "--json"]
                ).result()
                if result.exitCode == 74 { continue }
                guard result.exitCode != 0 else { return }
                let failed = try result.events().named("job.failed").first
                let words = failed?["message"]?.string ?? ""
                #expect(words.contains("oo many open files") && words.contains("ulimit -n"), "\(result)")
                #expect(server.requests.isEmpty || result.exitCode == 1)
            }
        }
    }
}

enum SmallMounts {
    /// Whether a mount namespace can be created.
    static let areAllowed: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = ["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/tmp"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}
