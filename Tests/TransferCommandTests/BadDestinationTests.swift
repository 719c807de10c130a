import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Destinations that cannot be written and sources that cannot be read: both are found when the job starts, and
/// reported.
@Suite struct BadDestinationTests {
    /// Returns the single failure of a run whose job must fail without a request to the server.
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
    func aFolderIsNeverReplacedForAnyIfExists(_ word: String) async throws {
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
                event["message"]?.string == "cannot write to the folder \(place.folder.path("out")): not a directory")
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
                    == "cannot write to the folder \(locked): permission denied")
            #expect(
                events.of("locked/sub/a").named("job.failed").first?["message"]?.string
                    == "cannot write to the folder \(locked): permission denied")
            #expect(try result.events().named("job.failed").allSatisfy { $0["code"]?.string == "fileAccess" })
            #expect(server.requests.isEmpty)
            #expect(result.standardError.contains("    2  permission denied     (disk) "), "\(result)")
            #expect(try place.folder.files(below: "locked") == [])
        }
    }

    /// A write to a device would reach it or replace it, and a FIFO would block.
    @Test(arguments: ["verify", "overwrite", "update", "rename", "skip", "fail"])
    func aFIFOIsNeitherOpenedNorReplacedForAnyIfExists(_ word: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            mkfifo(place.folder.path("a"), 0o600)
            let event = try await failure(
                download(server.url("/a"), to: "a", #""ifExists": "\#(word)""#), place, server)
            #expect(
                event["message"]?.string
                    == "\(place.folder.path("a")) is a FIFO, and is neither written to nor replaced; name another "
                    + "destination", "\(event)")
            var status = stat()
            #expect(lstat(place.folder.path("a"), &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
        }
    }

    @Test func aLinkToADeviceIsRefusedToo() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            symlink("/dev/null", place.folder.path("a"))
            let event = try await failure(
                download(server.url("/a"), to: "a", #""ifExists": "overwrite""#), place, server)
            #expect(event["message"]?.string?.contains("is a device") == true, "\(event)")
        }
    }

    /// A private file behind a link: with each rule that replaces it, and with one connection and several.
    @Test(arguments: ["overwrite", "update"], [1, 3])
    func theFileBehindALinkIsReplacedAndTheLinkStays(_ rule: String, _ segments: Int) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.random(seed: 8, count: 3_000_000)
            server.serve("/a", content, etag: "\"1\"")
            try place.folder.write("old", to: "there/file")
            #expect(chmod(place.folder.path("there/file"), 0o600) == 0)
            symlink("there/file", place.folder.path("a"))
            try place.jobs([
                download(server.url("/a"), to: "a", #""ifExists": "\#(rule)", "segments": \#(segments)"#)
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            var status = stat()
            #expect(lstat(place.folder.path("a"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
            #expect(lstat(place.folder.path("there/file"), &status) == 0 && status.st_mode & 0o7777 == 0o600)
            #expect(try content.firstDifference(fromFileAt: place.folder.path("there/file")) == nil)
            #expect(!place.folder.exists("a.part") && !place.folder.exists("there/file.part"))
        }
    }

    /// The server chooses the names in a destination folder, so it must not choose a link there.
    @Test func aSymbolicLinkGivesWayInAFolderAndItsTargetStays() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("theirs"))
            server.serve("/b", .text("theirs"))
            try place.folder.write("precious", to: "victim")
            try place.folder.write("", to: "in/other")
            symlink(place.folder.path("victim"), place.folder.path("in/a"))
            symlink(place.folder.path("nothing"), place.folder.path("in/b"))
            try place.jobs([
                download(server.url("/a"), to: "in/", #""ifExists": "overwrite""#),
                download(server.url("/b"), to: "in/", #""ifExists": "overwrite""#),
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("victim") == "precious" && !place.folder.exists("nothing"))
            for name in ["in/a", "in/b"] {
                var status = stat()
                #expect(lstat(place.folder.path(name), &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
                #expect(try place.folder.text(name) == "theirs")
            }
        }
    }

    @Test func aDanglingLinkCountsAsAnExistingFile() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            symlink(place.folder.path("nothing"), place.folder.path("a"))
            let event = try await failure(download(server.url("/a"), to: "a"), place, server)
            #expect(event["message"]?.string?.contains("is a symbolic link to nothing") == true, "\(event)")
        }
    }

    /// An entry with the partial file's name that is not ours stays unchanged, and the download takes the next name.
    @Test(arguments: ["link", "fifo", "folder", "second name"])
    func aPartFileThatIsNotOursIsLeftAlone(_ kind: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("theirs"))
            try place.folder.write("precious", to: "victim")
            let (victim, part) = (place.folder.path("victim"), place.folder.path("a.part"))
            switch kind {
            case "link": symlink(victim, part)
            case "fifo": mkfifo(part, 0o600)
            case "folder": try place.folder.folder("a.part")
            default: link(victim, part)
            }
            try place.jobs([download(server.url("/a"), to: "a")])
            var command = place.command(["run", "jobs.json", "--json"])
            command.timeout = .seconds(20)
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("a") == "theirs" && place.folder.text("victim") == "precious")
            #expect(!place.folder.exists("a.1.part"))
            var status = stat()
            #expect(lstat(part, &status) == 0)
        }
    }

    /// The bytes of the written file count, whatever entry has its name by then.
    @Test func aPartFileThatIsSwappedMeanwhileNeverBecomesTheFile() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.random(seed: 9, count: 600_000)
            server.serve("/a", content, etag: "\"1\"")
            server.script("/a", [.stall(after: 400_000)])
            try place.jobs([download(server.url("/a"), to: "a", #""retry": {"scale": 0}"#)])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            #expect(Glibc.rename(place.folder.path("a.part"), place.folder.path("moved")) == 0)
            try place.folder.write("evil", to: "a.part")
            server.release()
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
            #expect(try place.folder.text("a.part") == "evil")
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
                failed.first?["message"]?.string == "cannot open \(place.folder.path("a")): no such file or directory")
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
                "jobs.json:2:3: error: cannot read a: no such file or directory\n  $.jobs[0].upload\n"),
            "\(result)")
        #expect(try place.traces() == [])
    }

    @Test func validateAcceptsAnUploadOfAnEarlierJobsFile() async throws {
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
            #expect(event["message"]?.string == "cannot upload \(place.folder.path("a")): not a regular file")
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
            #expect(event["message"]?.string == "cannot upload \(place.folder.path("a")): not a regular file")
        }
    }
}

/// A wrapper that runs the command as a user to whom permissions apply: root may write everywhere.
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
        // The folder with the binary may be closed to other users.
        let binary = place.folder.path("transfer")
        // A separate process makes the copy. A process forked here meanwhile would hold the copy open for writing, and
        // it could not be executed then.
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
