import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Names that a file system accepts, but not with a prefix or suffix.
@Suite("Long names", .timeLimit(.minutes(2)))
struct LongNameTests {
    private static let longest = String(repeating: "n", count: 251) + ".iso"
    private let content = Content.random(seed: 5, count: 400_000)

    private func files(_ place: Workplace) throws -> [String] {
        try place.folder.files().filter { !$0.hasPrefix("state/") && $0 != "jobs.json" }
    }

    @Test(arguments: [246, 250, 251, 254, 255]) func aFileOfEachLengthIsWritten(_ count: Int) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let name = String(repeating: "n", count: count)
            server.serve("/\(name)", content, etag: "\"1\"")
            let named = try await place.run("get", "-q", "-o", "out/" + name, server.url("/" + name))
            let unnamed = try await place.run("get", "-q", "-d", "in", server.url("/" + name))
            #expect(named.exitCode == 0 && unnamed.exitCode == 0, "\(named) \(unnamed)")
            #expect(try files(place) == ["in/" + name, "out/" + name])
            #expect(try content.firstDifference(fromFileAt: place.folder.path("out/" + name)) == nil)
        }
    }

    /// The job alone finds it: the database with the record of the part is gone.
    @Test(arguments: [false, true]) func thePartOfALongNameIsFoundAgain(_ losesDatabase: Bool) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content, etag: "\"1\"")
            server.script("/a", [.cut(after: 300_000)], afterwards: .status(403))
            try place.jobs([download(server.url("/a"), to: "out/" + Self.longest)])
            #expect(try await place.runJobs().exitCode == 1)
            let parts = try files(place)
            #expect(parts.count == 1 && parts[0].hasSuffix(".part") && parts[0].utf8.count == 4 + 255, "\(parts)")
            let plan = try await place.runJobs("--dry-run")
            #expect("\(plan)".contains("continue from"), "\(plan)")
            if losesDatabase { try FileManager.default.removeItem(atPath: place.folder.path("state")) }
            server.script("/a", [])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.last?.range == "bytes=300000-")
            #expect(try files(place) == ["out/" + Self.longest])
            #expect(try content.firstDifference(fromFileAt: place.folder.path("out/" + Self.longest)) == nil)
        }
    }

    /// The bytes belong to an earlier version, which is kept until the newer one is whole.
    @Test func bytesSetAsideHaveTheLongNameToo() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content, etag: "\"1\"")
            server.script("/a", [.cut(after: 300_000)], afterwards: .status(403))
            try place.jobs([download(server.url("/a"), to: Self.longest)])
            #expect(try await place.runJobs().exitCode == 1)
            server.serve("/a", Content.random(seed: 6, count: 400_000), etag: "\"2\"")
            server.script("/a", [.cut(after: 1000)], afterwards: .status(403))
            #expect(try await place.runJobs().exitCode == 1)
            #expect(try files(place).map { $0.utf8.count } == [255, 255])
            server.script("/a", [])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try files(place) == [Self.longest])
        }
    }

    @Test func aTakenNameGetsANumber() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content)
            try place.folder.write("mine", to: Self.longest)
            try place.jobs([download(server.url("/a"), to: Self.longest, #""ifExists": "rename""#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            let renamed = String(repeating: "n", count: 249) + ".1.iso"
            #expect(try Set(files(place)) == [Self.longest, renamed])
            #expect(try place.folder.text(Self.longest) == "mine")
        }
    }

    @Test(arguments: [
        ("%C3%A9", 130, String(repeating: "é", count: 125) + ".tar"),
        ("%E6%97%A5", 90, String(repeating: "日", count: 83) + ".tar"),
        ("n", 251, String(repeating: "n", count: 251) + ".tar"),
    ])
    func aServersNameIsCutBetweenTwoCharacters(_ letter: String, _ count: Int, _ name: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let proposed = String(repeating: letter, count: count) + ".tar"
            let field = "attachment; filename*=UTF-8''\(proposed)"
            server.serve("/f", ServedFile(.text("content"), headers: ["Content-Disposition": field]))
            try place.jobs([download(server.url("/f"), to: "in/")])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try files(place) == ["in/" + name])
        }
    }

    /// The name is refused before any request, even where the folder is new.
    @Test(arguments: ["", "out/"]) func aNameThatNoFolderTakesIsRefusedAtOnce(_ folder: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content)
            try place.jobs([download(server.url("/a"), to: folder + String(repeating: "n", count: 256))])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1 && "\(result)".contains("name too long"), "\(result)")
            #expect(server.requests.isEmpty)
            #expect(try files(place).isEmpty)
        }
    }
}
