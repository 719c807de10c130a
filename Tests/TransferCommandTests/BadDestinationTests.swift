import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Places that can't be written to and files that can't be read: found when the job starts, and said as they are.
@Suite struct BadDestinationTests {
    /// The one failure of a run whose single job must fail without asking the server.
    private func failure(_ job: String, _ place: Workplace, _ server: TestServer) async throws -> JSONValue {
        try place.jobs([job])
        let result = try await place.runJobs()
        #expect(result.exitCode == 1, "\(result)")
        #expect(server.requests.isEmpty, "the server was asked")
        let failed = try result.events().named("job.failed")
        #expect(failed.count == 1, "\(result)")
        let event = try #require(failed.first)
        #expect(result.standardError.contains(try #require(event["message"]?.string)), "\(result)")
        return event
    }

    @Test func aDestinationThatIsAFolderFails() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.folder.write("keep", to: "out/inner")
            let event = try await failure(download(server.url("/a"), to: "out"), place, server)
            let path = place.folder.path("out")
            #expect(event["message"]?.string == "\(path) is a folder; write \"to\": \"…/\" to put a file into a folder")
            #expect(event["attempts"]?.int == 1)
            #expect(try place.folder.text("out/inner") == "keep")
            #expect(!place.folder.exists("out.part"))
        }
    }

    @Test(arguments: ["overwrite", "update", "rename", "skip", "fail"])
    func aFolderIsNeverReplacedWhateverIfExistsSays(_ word: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.folder.folder("out")
            let event = try await failure(
                download(server.url("/a"), to: "out", #""ifExists": "\#(word)""#), place, server)
            #expect(event["message"]?.string?.contains("is a folder") == true, "\(event)")
        }
    }

    @Test func aFileInPlaceOfAFolderFails() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.folder.write("I am a file", to: "out")
            let event = try await failure(download(server.url("/a"), to: "out/a"), place, server)
            #expect(
                event["message"]?.string == "can't write to the folder \(place.folder.path("out")): not a directory")
            #expect(try place.folder.text("out") == "I am a file")
        }
    }

    @Test func aFolderThatCannotBeWrittenToFails() async throws {
        try await withTestServer { server in
            server.serve("/a", .text("a"))
            let place = try Workplace()
            try place.folder.folder("locked")
            try place.jobs([download(server.url("/a"), to: "locked/a"), download(server.url("/a"), to: "locked/sub/a")])
            let result = try await OrdinaryUser.run(["run", "jobs.json", "--json"], in: place) {
                chmod(place.folder.path("locked"), 0o555)
            }
            let locked = place.folder.path("locked")
            #expect(result.exitCode == 1, "\(result)")
            let events = try result.events()
            #expect(
                events.of("locked/a").named("job.failed").first?["message"]?.string
                    == "can't write to the folder \(locked): permission denied")
            #expect(
                events.of("locked/sub/a").named("job.failed").first?["message"]?.string
                    == "can't write to the folder \(locked): permission denied")
            #expect(try result.events().named("job.failed").allSatisfy { $0["code"]?.string == "fileAccess" })
            #expect(server.requests.isEmpty)
            #expect(result.standardError.contains("    2  permission denied     (disk) "), "\(result)")
            #expect(try place.folder.files(below: "locked") == [])
        }
    }

    @Test func aPartFileThatIsASymbolicLinkIsNotFollowed() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.folder.write("precious", to: "victim")
            symlink(place.folder.path("victim"), place.folder.path("a.part"))
            _ = try await failure(download(server.url("/a"), to: "a"), place, server)
            #expect(try place.folder.text("victim") == "precious")
        }
    }

    @Test func aMissingUploadFileFailsItsJobOnly() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.acceptUploads("/in/*")
            try place.folder.write("here", to: "b")
            try place.jobs([upload("a", to: server.url("/in/a")), upload("b", to: server.url("/in/b"))])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            let failed = try result.events().named("job.failed")
            #expect(failed.count == 1)
            #expect(
                failed.first?["message"]?.string == "can't open \(place.folder.path("a")): no such file or directory")
            #expect(failed.first?["code"]?.string == "fileMissing")
            #expect(server.requests.map(\.path) == ["/in/b"])
        }
    }

    @Test func validateNamesAMissingUploadFile() async throws {
        let place = try Workplace()
        try place.jobs([upload("a", to: "http://127.0.0.1:1/a")], extra: "")
        let result = try await place.run("validate", "jobs.json")
        #expect(result.exitCode == 65)
        #expect(
            result.standardError.hasPrefix(
                "jobs.json:2:3: error: can't read a: no such file or directory\n  $.jobs[0].upload\n"),
            "\(result)")
        #expect(try place.traces() == [])
    }

    @Test func validateAcceptsAnUploadOfWhatAnEarlierJobBrings() async throws {
        let place = try Workplace()
        try place.jobs([
            download("http://127.0.0.1:1/a", to: "a", #""id": "get""#),
            upload("a", to: "http://127.0.0.1:1/b", #""needs": ["get"]"#),
        ])
        let result = try await place.run("validate", "jobs.json")
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.standardOutput == "jobs.json: 2 jobs, no errors\n")
    }

    @Test func aFolderCannotBeUploaded() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.folder.folder("a")
            let event = try await failure(upload("a", to: server.url("/a")), place, server)
            #expect(event["message"]?.string == "can't upload \(place.folder.path("a")): not a regular file")
        }
    }

    @Test func anUploadFromAPipeDoesNotHang() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            mkfifo(place.folder.path("a"), 0o600)
            try place.jobs([upload("a", to: server.url("/a"))])
            var command = place.command(["run", "jobs.json", "--json"])
            command.timeout = .seconds(8)
            let event = try #require(try await command.run().events().named("job.failed").first)
            #expect(event["message"]?.string == "can't upload \(place.folder.path("a")): not a regular file")
        }
    }
}

/// Runs the command as a user whom permissions bind: root may write everywhere.
enum OrdinaryUser {
    static func run(
        _ arguments: [String], in place: Workplace, _ prepare: () -> Void = {}
    ) async throws -> ProcessResult {
        let template = place.command(arguments)
        guard geteuid() == 0 else {
            prepare()
            return try await template.run()
        }
        let nobody: (uid_t, gid_t) = (65_534, 65_534)
        for name in try [""] + FileManager.default.subpathsOfDirectory(atPath: place.folder.path) {
            chown(place.folder.path(name), nobody.0, nobody.1)
        }
        // The folder that holds the binary may be closed to others.
        let binary = place.folder.path("transfer")
        // By another process: one that is forked here meanwhile would hold the copy open for writing, and nobody could
        // start it then.
        let copy = ChildProcess.Command("/bin/cp", [try TransferCommand.binary(), binary])
        try #require(try await ChildProcess.start(copy).result().exitCode == 0)
        prepare()
        defer { try? FileManager.default.removeItem(atPath: binary) }
        return try await ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/setpriv",
                ["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--", binary] + arguments,
                environment: template.environment, workingFolder: template.workingFolder)
        ).result()
    }
}
