import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Downloads to, and uploads from, each file system that can be mounted here. A missing feature (hard links,
/// RENAME_NOREPLACE, attributes, sparse files, case) changes no result. "File systems" of the documentation has the
/// table.
@Suite(
    .enabled(if: FileSystemPlace.areWanted, "needs root, loop devices, and TRANSFER_HEAVY=1"), .timeLimit(.minutes(5)))
struct FileSystemTests {
    private static let kinds = FileSystemKind.writable
    private let content = Content.random(seed: 81, count: 3_000_000)

    // MARK: Free names and taken names

    @Test(arguments: kinds) func aDownloadGetsItsName(_ kind: FileSystemKind) async throws {
        try await withFileSystem(kind) { place, server in
            server.serve("/a", ServedFile(content, etag: "\"1\""))
            server.serve("/b", ServedFile(content, etag: "\"1\""))
            try place.jobs([
                download(server.url("/a"), to: "mounted/new/a"),
                download(server.url("/b"), to: "mounted/b", #""segments": 4"#),
            ])
            let result = try await place.run("run", "jobs.json")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try await place.names() == "./b ./new/a")
            #expect(try await place.holds(content, "new/a"))
            #expect(try await place.holds(content, "b"))
        }
    }

    @Test(arguments: kinds) func anExistingFileIsReplacedOnlyWhenTheJobAllowsIt(_ kind: FileSystemKind) async throws {
        try await withFileSystem(kind) { place, server in
            let policies = ["verify", "fail", "skip", "rename", "overwrite", "update"]
            for policy in policies { server.serve("/" + policy, ServedFile(.text("new"), etag: "\"1\"")) }
            try await place.shell("for p in \(policies.joined(separator: " ")); do printf old > $p; done")
            try place.jobs(
                policies.map {
                    download(server.url("/" + $0), to: "mounted/" + $0, #""id": "\#($0)", "ifExists": "\#($0)""#)
                })
            let result = try await place.run("run", "jobs.json", "--json")
            let ends = try result.events().ends
            #expect(
                ends == [
                    "verify": "failed", "fail": "failed", "skip": "kept", "rename": "finished",
                    "overwrite": "finished", "update": "finished",
                ], "\(result)")
            let found = try await place.shell("for f in *; do [ -d $f ] || echo \"$f=$(cat \"$f\")\"; done")
            #expect(
                found.split(separator: "\n").sorted() == [
                    "fail=old", "overwrite=new", "rename.1=new", "rename=old", "skip=old", "update=new", "verify=old",
                ], "\(found)")
        }
    }

    @Test(arguments: kinds) func theNewestVersionIsRequested(_ kind: FileSystemKind) async throws {
        try await withFileSystem(kind) { place, server in
            server.serve("/a", ServedFile(content, etag: "\"1\""))
            try place.jobs([download(server.url("/a"), to: "mounted/a", #""ifExists": "update""#)])
            for _ in 0..<2 {
                let result = try await place.run("run", "jobs.json", "--refresh")
                #expect(result.exitCode == 0, "\(result)")
            }
            let asksForNewer = server.requests.last?.headers["If-None-Match"] == "\"1\""
            #expect(server.requests.count == 2 && (asksForNewer || !kind.keepsTimes))
            server.serve("/a", ServedFile(.text("newer"), etag: "\"2\""))
            let result = try await place.run("run", "jobs.json", "--refresh")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try await place.shell("cat a") == "newer")
            #expect(try await place.names() == "./a")
        }
    }

    // MARK: After a kill

    @Test(arguments: kinds.filter(\.rewrites), ["1", "3"]) func aKilledDownloadIsContinued(
        _ kind: FileSystemKind, _ segments: String
    ) async throws {
        try await withFileSystem(kind) { place, server in
            let content = Content.random(seed: 82, count: 9_000_000)
            server.serve("/a", ServedFile(content, etag: "\"1\""))
            server.script("/a", Array(repeating: .stall(after: 2_000_000), count: Int(segments) ?? 1))
            try place.jobs([download(server.url("/a"), to: "mounted/a", #""segments": \#(segments)"#)])
            let process = try place.start("run", "jobs.json", "--json")
            try await until("bytes are kept") {
                try await place.shell("find . -name '*.part' -size +1500k") != ""
                    && server.requests.count >= Int(segments) ?? 1
            }
            process.kill(SIGKILL)
            _ = try? await process.result()
            let again = try await place.run("run", "jobs.json")
            #expect(again.exitCode == 0, "\(again)")
            #expect(try await place.names() == "./a")
            #expect(try await place.holds(content, "a"))
            let isGoneOnWith = server.requests.dropFirst(Int(segments) ?? 1).contains { $0.range != nil }
            #expect(isGoneOnWith || !kind.keepsWrittenBytes, "\(server.requests)")
        }
    }

    /// Without RENAME_NOREPLACE the naming takes two calls. The first makes a second name, or, without hard links too,
    /// an empty file. The second removes the first name, or renames the partial file over the empty one.
    @Test(arguments: kinds, ["verify", "fail", "rename"]) func anUnfinishedNamingIsFinished(
        _ kind: FileSystemKind, _ policy: String
    ) async throws {
        try await withFileSystem(kind) { place, server in
            server.serve("/a", ServedFile(content, etag: "\"1\""))
            try place.jobs([download(server.url("/a"), to: "mounted/a", #""ifExists": "\#(policy)""#)])
            // The kill comes at the second of two calls, where there are two.
            let calls = "unlinkat,renameat"
            let killed = try await place.startTraced(
                ["-e", "trace=\(calls)", "-e", "inject=\(calls):signal=SIGKILL:when=1"], ["run", "jobs.json"]
            ).result()
            let isTwo = try await place.names().contains("a.part")
            #expect(killed.exitCode == (isTwo ? nil : 0), "\(killed)")
            let requests = server.requests.count
            let again = try await place.run("run", "jobs.json")
            #expect(again.exitCode == 0, "\(again)")
            #expect(try await place.names() == "./a")
            #expect(try await place.holds(content, "a"))
            // No byte of the body is sent again.
            #expect(server.requests.dropFirst(requests).allSatisfy { $0.bytesSent < 1_000_000 }, "\(server.requests)")
        }
    }

    // MARK: Two jobs with one name

    @Test(arguments: kinds) func namesThatFoldToOneNeverReplaceEachOther(_ kind: FileSystemKind) async throws {
        try await withFileSystem(kind) { place, server in
            for name in ["/Name", "/name"] {
                server.serve(name, ServedFile(.text(name), etag: "\"1\""))
                server.script(name, [.holdHead])
            }
            try place.jobs([
                download(server.url("/Name"), to: "mounted/Name", #""id": "upper""#),
                download(server.url("/name"), to: "mounted/name", #""id": "lower""#),
            ])
            let process = try place.start("run", "jobs.json", "--json")
            // The second job is not requested where both names are one file.
            try await server.waitForHeld(kind.foldsCase ? 1 : 2)
            server.release()
            let result = try await process.result()
            let names = try await place.names()
            if kind.foldsCase {
                #expect(result.exitCode == 1, "\(result)")
                let texts = try await place.shell("cat [Nn]ame")
                #expect(names == "./Name" && texts == "/Name" || names == "./name" && texts == "/name", "\(names)")
                let again = try await place.run("run", "jobs.json")
                #expect(again.exitCode == 1, "\(again)")
                #expect(try await place.shell("cat [Nn]ame") == texts, "the file that is there stays")
            } else {
                #expect(result.exitCode == 0, "\(result)")
                #expect(names.lowercased() == "./name ./name")
            }
        }
    }

    @Test(arguments: kinds.filter { $0.refusedCharacter != nil })
    func aNameThatTheFileSystemRefusesIsNamed(_ kind: FileSystemKind) async throws {
        try await withFileSystem(kind) { place, server in
            server.serve("/a", ServedFile(.text("a")))
            let character = try #require(kind.refusedCharacter)
            try place.jobs([
                download(server.url("/a"), to: "mounted/x\(character)y", #""id": "refused""#),
                download(server.url("/a"), to: "mounted/taken", #""id": "taken""#),
            ])
            let result = try await place.run("run", "jobs.json", "--json")
            let events = try result.events()
            #expect(events.ends == ["refused": "failed", "taken": "finished"], "\(result)")
            let words = events.of("refused").named("job.failed").first?["message"]?.string ?? ""
            #expect(words.contains("takes no name with \u{22}\(character)\u{22}"), "\(words)")
            #expect(try await place.names() == "./taken")
        }
    }

    // MARK: Uploads

    @Test(arguments: kinds) func aFileIsSentFromThere(_ kind: FileSystemKind) async throws {
        try await withFileSystem(kind) { place, server in
            let sink = server.acceptUploads("/up/a")
            try await place.shell("head -c 300000 /dev/zero | tr '\\0' x > a")
            let result = try await place.run("put", "mounted/a", server.url("/up/a"))
            #expect(result.exitCode == 0, "\(result)")
            let sent = Array(repeating: UInt8(ascii: "x"), count: 300_000)
            #expect(sink.uploads.count == 1 && sink.uploads.first?.bytes == sent)
        }
    }

    /// The files move from the file system to the disk, from the disk to the file system, and within the file system.
    @Test(arguments: kinds, [("mounted/in", "done"), ("in", "mounted/done"), ("mounted/in", "mounted/done")])
    func filesThatWereUploadedAreMoved(_ kind: FileSystemKind, _ folders: (from: String, to: String)) async throws {
        try await withFileSystem(kind) { place, server in
            server.handle("PUT", "/up/*") { _ in Response(status: 201) }
            try await place.shell(
                """
                cd .. && mkdir -p \(folders.from) \(folders.to)
                for n in a B c.txt; do echo $n > \(folders.from)/$n; done
                echo there > \(folders.to)/a
                """)
            let arguments = [
                "watch", folders.from, "--to", server.url("/up/{name}"), "--once", "--then", "move", folders.to,
            ]
            for _ in 0..<2 {
                let result = try await place.start(arguments).result()
                #expect(result.exitCode == 0, "\(result)")
            }
            #expect(server.requests.count == 3, "each is sent once: \(server.requests)")
            let left = try await place.shell("cd .. && ls -A \(folders.from)")
            let moved = try await place.shell("cd ../\(folders.to) && for f in *; do echo \"$f=$(cat $f)\"; done")
            #expect(left == "")
            #expect(moved.split(separator: "\n").sorted() == ["B=B", "a.1=a", "a=there", "c.txt=c.txt"], "\(moved)")
        }
    }

    // MARK: Read-only

    @Test(arguments: FileSystemKind.allCases.filter(\.isReadOnly))
    func aReadOnlyFileSystemIsReportedInWords(_ kind: FileSystemKind) async throws {
        try await withFileSystem(kind) { place, server in
            server.serve("/a", ServedFile(.text("a")))
            let result = try await place.run("get", server.url("/a"), "-o", "mounted/a")
            let isSaid = result.standardError.lowercased().contains("read-only file system")
            #expect(result.exitCode == 1 && isSaid, "\(result)")
            #expect(try await place.names() == "./there")
            let state = try await place.run("status", "--state", "mounted/state")
            #expect(state.exitCode == 0 || state.standardError.lowercased().contains("read-only"), "\(state)")
            let run = try await place.run("get", server.url("/a"), "-o", "b", "--state", "mounted/state")
            #expect(run.exitCode == 74 && run.standardError.lowercased().contains("read-only file system"), "\(run)")
        }
    }
}
