import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// The location of the state folder, its permissions, and the message when it cannot be used: exit status 74.
@Suite struct StateFolderTests {
    private func refusal(
        _ place: Workplace, _ environment: [String: String?], _ arguments: [String] = ["run", "jobs.json"]
    ) async throws -> String {
        try await withTestServer { server in
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a")])
            var command = place.command(arguments)
            for (name, value) in environment { command.environment[name] = value }
            let result = try await command.run()
            #expect(result.exitCode == 74, "\(result)")
            #expect(server.requests.isEmpty)
            #expect(!place.folder.exists("a"))
            return result.standardError
        }
    }

    @Test func aMissingHomeIsReportedWithTheRequiredVariable() async throws {
        let place = try Workplace()
        let text = try await refusal(place, ["HOME": nil, "TRANSFER_STATE": nil])
        #expect(
            text
                == "transfer: no place for the queue's state: HOME is not set; name a folder with --state or TRANSFER_STATE\n"
        )
        #expect(try place.traces() == [])
    }

    @Test func aFileInItsPlaceIsReported() async throws {
        let place = try Workplace()
        let path = try place.folder.write("I am a file", to: "state")
        let text = try await refusal(place, [:])
        #expect(text == "transfer: the state folder \(path) is not a folder; name another with --state\n")
        #expect(try place.folder.text("state") == "I am a file")
    }

    @Test func aFileAboveItIsReported() async throws {
        let place = try Workplace()
        let path = try place.folder.write("I am a file", to: "file")
        let text = try await refusal(place, [:], ["run", "jobs.json", "--state", "\(path)/state"])
        #expect(text.hasPrefix("transfer: cannot "), "\(text)")
        #expect(text.contains("not a directory; name another folder with --state or TRANSFER_STATE\n"), "\(text)")
    }

    @Test func anUnwritableFolderIsReported() async throws {
        let place = try Workplace()
        let path = try place.folder.folder("state")
        try place.jobs([download("http://127.0.0.1:1/a", to: "a")])
        let result = try await OrdinaryUser.run(["run", "jobs.json"], in: place) { chmod(path, 0o555) }
        #expect(result.exitCode == 74, "\(result)")
        #expect(
            result.standardError
                == "transfer: cannot write to the state folder \(path): permission denied; name another folder with --state or TRANSFER_STATE\n"
        )
        #expect(try place.folder.files(below: "state") == [])
    }

    @Test func aReadOnlyFileSystemIsReported() async throws {
        let place = try Workplace()
        let text = try await refusal(place, [:], ["run", "jobs.json", "--state", "/proc/1/transfer"])
        #expect(text.hasPrefix("transfer: cannot "), "\(text)")
        #expect(text.contains("/proc/1/transfer"), "\(text)")
    }

    @Test(arguments: [["status"], ["cancel", "--all"]])
    func anInvalidDatabaseIsReportedAndLeftAlone(_ arguments: [String]) async throws {
        let place = try Workplace()
        let garbage = String(repeating: "this is no database\n", count: 500)
        let path = try place.folder.write(garbage, to: "state/queue.sqlite")
        let text = try await refusal(place, [:], arguments)
        #expect(text.hasPrefix("transfer: "), "\(text)")
        #expect(text.contains(path) && text.contains("not a database"), "\(text)")
        #expect(try place.folder.text("state/queue.sqlite") == garbage)
    }

    @Test(arguments: [["status"], ["why", "batch/a"], ["forget"], ["wait", "batch"]])
    func anUnreadableFolderIsNotTakenForAnEmptyOne(_ arguments: [String]) async throws {
        let place = try Workplace()
        let path = try place.folder.folder("state")
        let result = try await OrdinaryUser.run(arguments, in: place) { chmod(path, 0) }
        chmod(path, 0o700)
        #expect(result.exitCode == 74, "\(result)")
        #expect(result.standardError.contains("state") && result.standardError.contains("permission denied"))
    }

    @Test func aFileInItsPlaceIsNotTakenForAnEmptyOne() async throws {
        let place = try Workplace()
        try place.folder.write("I am a file", to: "state")
        let result = try await place.run("status")
        #expect(result.exitCode == 74 && result.standardError.contains("is not a folder"), "\(result)")
    }

    @Test func aWorldWritableFolderIsClosed() async throws {
        try await withTestServer { server in
            server.serve("/a", .text("a"))
            let place = try Workplace()
            let path = try place.folder.folder("state")
            chmod(path, 0o777)
            try place.jobs([download(server.url("/a"), to: "a")])
            #expect(try await place.runJobs().exitCode == 0)
            var status = stat()
            stat(path, &status)
            #expect(status.st_mode & 0o777 == 0o755)
            // The permissions are also corrected when they changed later.
            chmod(path, 0o777)
            #expect(try await place.run("status").exitCode == 0)
            stat(path, &status)
            #expect(status.st_mode & 0o777 == 0o755)
        }
    }

    /// The folder is shared, as with `--state /tmp`.
    @Test func aSharedWorldWritableFolderIsRefused() async throws {
        let place = try Workplace()
        let path = try place.folder.write("somebody's", to: "state/other")
        let folder = String(path.dropLast("/other".count))
        chmod(folder, 0o1777)
        let text = try await refusal(place, [:])
        #expect(
            text.contains("every user may write to the state folder \(folder)") && text.contains("--state"), "\(text)")
        var status = stat()
        stat(folder, &status)
        #expect(status.st_mode & 0o7777 == 0o1777)
        #expect(try place.folder.files(below: "state") == ["other"])
    }

    @Test(.enabled(if: geteuid() == 0, "needs root to give a folder away"))
    func aFolderOfAnotherUserIsRefused() async throws {
        let place = try Workplace()
        let path = try place.folder.folder("state")
        chown(path, 65_534, 65_534)
        for arguments in [["run", "jobs.json"], ["cancel", "--all"]] {
            let text = try await refusal(place, [:], arguments)
            #expect(text.contains("the state folder \(path) belongs to the user nobody: run the command as that user"))
        }
        #expect(try place.folder.files(below: "state") == [])
    }

    @Test(.enabled(if: geteuid() == 0, "needs root to give a file away"))
    func aDatabaseOfAnotherUserIsRefused() async throws {
        let place = try Workplace()
        let path = try place.folder.write("", to: "state/queue.sqlite-wal")
        chown(path, 65_534, 65_534)
        let text = try await refusal(place, [:])
        #expect(text.contains("\(path) belongs to the user nobody, and is not used"), "\(text)")
    }

    // MARK: Damage

    enum Damage: CaseIterable {
        case header, middle, truncated, zeroes, log
    }

    /// The files themselves bear the URLs of their sources: the new queue finds them complete, or continues them.
    @Test(arguments: Damage.allCases)
    func aDamagedDatabaseIsMovedAsideAndNothingIsLost(_ damage: Damage) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let names = (0..<40).map { "f\($0)" }
            let contents = names.indices.map { Content.random(seed: UInt64($0), count: $0 < 20 ? 1_200_000 : 3000) }
            for (name, content) in zip(names, contents) {
                server.serve("/\(name)", ServedFile(content, etag: "\"a\""))
            }
            try place.jobs(names.map { download(server.url("/\($0)"), to: "in/\($0)") })
            #expect(try await place.runJobs().exitCode == 0)
            let path = place.folder.path("state/queue.sqlite")
            let before = try spoil(path, damage)
            let result = try await place.runJobs()
            // SQLite does not report a truncated log. Its records are lost, and small files, which bear no note, are
            // refused rather than replaced.
            #expect(result.exitCode == 0 || damage == .log && result.exitCode == 1, "\(result)")
            for (name, content) in zip(names, contents) {
                let isRight = try place.content("in/\(name)") == content.bytes()
                #expect(isRight, "\(name)")
            }
            guard damage != .log else { return }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".damaged-1")) == before)
            #expect(result.standardError.contains("transfer: the queue's database \(path) was damaged ("), "\(result)")
            #expect(result.standardError.contains("it is \(path).damaged-1 now, and a new one was begun"), "\(result)")
            #expect(try result.events().ends.count == 40)
            let again = server.requests.map(\.bytesSent).filter { $0 >= 1_200_000 }.count
            #expect(again == 20, "large files bear a note, and are not fetched again")
        }
    }

    /// - Returns: The new content of the database.
    private func spoil(_ path: String, _ damage: Damage) throws -> Data {
        let file = URL(fileURLWithPath: path)
        let log = URL(fileURLWithPath: path + "-wal")
        if damage == .log {
            var bytes = (try? Data(contentsOf: log)) ?? Data(repeating: 7, count: 100_000)
            for index in stride(from: 0, to: bytes.count, by: 7) { bytes[index] ^= 0x55 }
            try bytes.write(to: log)
            return try Data(contentsOf: file)
        }
        // All data is in the one file then.
        try SQLiteShell.checkpoint(path)
        var bytes = try Data(contentsOf: file)
        switch damage {
        case .header: bytes.replaceSubrange(0..<100, with: repeatElement(0x41, count: 100))
        case .middle:
            let range = 8192..<min(bytes.count, 12 * 8192)
            bytes.replaceSubrange(range, with: repeatElement(0x41, count: range.count))
        case .truncated: bytes = bytes.prefix(bytes.count / 2)
        case .zeroes: bytes = Data(count: bytes.count)
        case .log: break
        }
        // The damage is in the same file, as on a disk that went bad.
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: bytes)
        try handle.close()
        return bytes
    }

    @Test func theFolderIsFoundInTheOrderOfTheManual() async throws {
        try await withTestServer { server in
            server.serve("/a", .text("a"))
            let order: [(String?, String)] = [
                (nil, "option"), ("TRANSFER_STATE", "variable"), ("STATE_DIRECTORY", "systemd"),
                ("XDG_STATE_HOME", "xdg/transfer"), ("HOME", "home/.local/state/transfer"),
            ]
            for first in order.indices {
                let place = try Workplace()
                try place.jobs([download(server.url("/a"), to: "a")])
                var command = place.command(["run", "jobs.json"])
                command.environment["TRANSFER_STATE"] = nil
                command.environment["HOME"] = nil
                for (name, path) in order[first...] {
                    let folder = place.folder.path(String(path.prefix { $0 != "/" }))
                    if let name {
                        command.environment[name] =
                            name == "STATE_DIRECTORY" ? "\(folder):/elsewhere" : folder
                    } else {
                        command.arguments += ["--state", folder]
                    }
                }
                #expect(try await command.run().exitCode == 0)
                #expect(
                    try place.traces().filter { $0.hasSuffix("/queue.sqlite") } == ["\(order[first].1)/queue.sqlite"])
            }
        }
    }

    @Test func onlyItsUserMayReadTheFolder() async throws {
        try await withTestServer { server in
            server.serve("/a", .text("a"))
            let place = try Workplace()
            try place.jobs([download(server.url("/a"), to: "a")])
            #expect(try await place.runJobs().exitCode == 0)
            var status = stat()
            stat(place.folder.path("state"), &status)
            #expect(status.st_mode & 0o777 == 0o700)
            for file in try place.folder.files(below: "state") {
                stat(place.folder.path("state/\(file)"), &status)
                #expect(status.st_mode & 0o777 == 0o600, "\(file)")
            }
            #expect(!place.folder.exists("home"), "nothing is written elsewhere")
        }
    }
}

/// SQLite's own access to a database that no process has open, through Python, which contains it.
enum SQLiteShell {
    static func checkpoint(_ path: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [
            "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA wal_checkpoint(TRUNCATE)')", path,
        ]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw TestSupportError("no checkpoint of \(path)") }
    }
}
