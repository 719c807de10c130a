import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Where the state is, who may read it, and what is said when it can't be used: exit status 74.
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

    @Test func withoutAHomeItSaysWhatToName() async throws {
        let place = try Workplace()
        let text = try await refusal(place, ["HOME": nil, "TRANSFER_STATE": nil])
        #expect(
            text
                == "transfer: no place for the queue's state: HOME isn't set; name a folder with --state or TRANSFER_STATE\n"
        )
        #expect(try place.traces() == [])
    }

    @Test func aFileInItsPlaceIsTold() async throws {
        let place = try Workplace()
        let path = try place.folder.write("I am a file", to: "state")
        let text = try await refusal(place, [:])
        #expect(text == "transfer: the state folder \(path) is not a folder; name another with --state\n")
        #expect(try place.folder.text("state") == "I am a file")
    }

    @Test func aFileAboveItIsTold() async throws {
        let place = try Workplace()
        let path = try place.folder.write("I am a file", to: "file")
        let text = try await refusal(place, [:], ["run", "jobs.json", "--state", "\(path)/state"])
        #expect(text.hasPrefix("transfer: can't "), "\(text)")
        #expect(text.contains("not a directory; name another folder with --state or TRANSFER_STATE\n"), "\(text)")
    }

    @Test func oneThatCannotBeWrittenToIsTold() async throws {
        let place = try Workplace()
        let path = try place.folder.folder("state")
        try place.jobs([download("http://127.0.0.1:1/a", to: "a")])
        let result = try await OrdinaryUser.run(["run", "jobs.json"], in: place) { chmod(path, 0o555) }
        #expect(result.exitCode == 74, "\(result)")
        #expect(
            result.standardError
                == "transfer: can't write to the state folder \(path): permission denied; name another folder with --state or TRANSFER_STATE\n"
        )
        #expect(try place.folder.files(below: "state") == [])
    }

    @Test func aReadOnlyFileSystemIsTold() async throws {
        let place = try Workplace()
        let text = try await refusal(place, [:], ["run", "jobs.json", "--state", "/proc/1/transfer"])
        #expect(text.hasPrefix("transfer: can't "), "\(text)")
        #expect(text.contains("/proc/1/transfer"), "\(text)")
    }

    @Test(arguments: [["run", "jobs.json"], ["status"], ["cancel", "--all"]])
    func aDatabaseThatIsNoneIsToldAndLeftAlone(_ arguments: [String]) async throws {
        let place = try Workplace()
        let garbage = String(repeating: "this is no database\n", count: 500)
        let path = try place.folder.write(garbage, to: "state/queue.sqlite")
        let text = try await refusal(place, [:], arguments)
        #expect(text.hasPrefix("transfer: "), "\(text)")
        #expect(text.contains(path) && text.contains("not a database"), "\(text)")
        #expect(try place.folder.text("state/queue.sqlite") == garbage)
    }

    @Test func itIsFoundInTheOrderOfTheManual() async throws {
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

    @Test func onlyItsUserMayLookIntoIt() async throws {
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
