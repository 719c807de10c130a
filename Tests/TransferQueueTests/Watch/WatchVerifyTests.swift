import Foundation
import Testing
import TransferCore
import TransferCrypto
import TransferEngine
import TransferTestServer
import TransferTestSupport
import TransferWatch

@testable import TransferFolders
@testable import TransferJobs

/// Files whose server is asked for the digest of its copy.
@Suite(.timeLimit(.minutes(1))) struct WatchVerifyTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("verify")
        try folder.write("one", to: "in/a")
    }

    func spec(_ server: TestServer, _ change: (inout WatchSpec) -> Void = { _ in }) throws -> WatchSpec {
        try folder.watchSpec(server) {
            $0.then = .delete
            $0.verifiesDigest = true
            change(&$0)
        }
    }

    @Test(arguments: [true, false])
    func deletesFilesThatTheServerProvablyHas(_ byHead: Bool) async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let digest = try FileDigest.compute(folder.path("in/a"), .sha256).base64
            server.handle("HEAD", "/in/*") { _ in
                Response(headers: byHead ? ["Repr-Digest": "sha-256=:\(digest):"] : [:])
            }
            server.handle("GET", "/in/*") { _ in Response(body: .bytes(inbox.contents["a"] ?? [])) }
            try await withWatch(folder, try spec(server)) { _, _, log in
                await log.wait { $0.contains { $0.donePath == "a" } }
            }
            #expect(server.requests.map(\.method) == (byHead ? ["PUT", "HEAD"] : ["PUT", "HEAD", "GET"]))
            #expect(!folder.exists("in/a"))
        }
    }

    /// No event reports a time that was set by name.
    @Test func aVersionThatChangedMeanwhileIsUploadedAsTheNewOne() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try spec(server) { ($0.then, $0.isNewOnly) = (.keep, true) }
            server.handle("HEAD", "/in/*") { _ in Response(status: 405) }
            server.handle("GET", "/in/*") { _ in Response(body: .bytes(inbox.contents["a"] ?? [])) }
            try await withWatch(folder, spec) { _, watched, log in
                await log.caughtUp()
                #expect(server.requests.isEmpty)
                var stamp = try #require(FolderPlaces(folder.path("in")).file("a")).stamp
                stamp.modified -= 1
                let stale = FileVersion(stamp, path: "a")
                #expect(await watched.uploader.offer([stale]) == 1)
                await log.wait(forConfirmed: "a")
            }
            #expect(inbox.puts == ["a": ["one"]])
        }
    }

    @Test func aFileThatDiffersOnTheServerStaysAndIsSentAgainAtTheNextStart() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            server.handle("HEAD", "/in/*") { _ in Response(status: 405) }
            server.handle("GET", "/in/*") { _ in Response(body: .text("two")) }
            try await withWatch(folder, try spec(server)) { _, _, log in
                await log.wait { $0.contains { $0.staysCode == .checksumMismatch } }
                #expect(log.confirmed.isEmpty)
            }
            #expect(folder.exists("in/a"))
            server.handle("GET", "/in/*") { _ in Response(body: .bytes(inbox.contents["a"] ?? [])) }
            try await withWatch(folder, try spec(server)) { _, _, log in
                await log.wait { $0.contains { $0.donePath == "a" } }
            }
            #expect(inbox.puts == ["a": ["one", "one"]])
        }
    }

    @Test func aFileWithoutAServersDigestStaysAndIsOnlyQueriedAtTheNextStart() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try await withWatch(folder, try spec(server)) { _, _, log in
                await log.wait { $0.contains { $0.staysCode == .digestUnknown } }
            }
            #expect(folder.exists("in/a"))
            server.handle("GET", "/in/*") { _ in Response(body: .bytes(inbox.contents["a"] ?? [])) }
            try await withWatch(folder, try spec(server)) { _, _, log in
                await log.wait { $0.contains { $0.donePath == "a" } }
            }
            #expect(inbox.puts == ["a": ["one"]])
        }
    }

    /// The state is that of kill −9 between the upload and the answer to the query.
    @Test func anUploadThatWasOnlyToBeVerifiedIsNotSentAgainByTheNextProcess() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            server.handle("GET", "/in/*") { _ in Response(body: .bytes(inbox.contents["a"] ?? [])) }
            server.script("/in/a", method: "HEAD", [.holdHead])
            try await withWatch(folder, try spec(server)) { _, _, _ in try await server.waitForHeld(1) }
            try await withWatch(folder, try spec(server)) { _, _, log in
                await log.wait { $0.contains { $0.donePath == "a" } }
            }
            #expect(inbox.puts == ["a": ["one"]])
        }
    }

    /// The files are old ones in a folder that was moved in: only the job knows of them.
    @Test func waitingFilesAreUploadedWhenDigestsAreFirstWanted() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            server.handle("GET", "/in/*") { _ in Response(body: .bytes(inbox.contents["sub/b"] ?? [])) }
            try folder.write("two", to: "sub/b")
            var spec = try spec(server) {
                $0.rules.isRecursive = true
                $0.isNewOnly = true
                $0.verifiesDigest = false
            }
            try await withWatch(folder, spec, runs: false) { _, _, log in
                await log.caughtUp()
                try folder.rename("sub", "in/sub")
                try await folder.history("path", "state <> 4", is: "sub/b")
            }
            spec.verifiesDigest = true
            try await withWatch(folder, spec) { _, _, log in
                await log.wait { $0.contains { $0.donePath == "sub/b" } }
            }
            #expect(inbox.puts == ["sub/b": ["two"]])
        }
    }

    /// The file has different bytes with the former size and time, as editors of tags leave it.
    @Test(arguments: [true, false])
    func aFileRewrittenWhileItWaitsIsUploadedInItsNewForm(_ isWatched: Bool) async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            server.handle("GET", "/in/*") { _ in Response(body: .bytes(inbox.contents["a"] ?? [])) }
            try folder.setTime("in/a", seconds: 1_000_000)
            try await withWatch(folder, try spec(server), runs: false) { queue, _, log in
                try await folder.history("count(job)", is: "1")
                guard isWatched else { return }
                try folder.rewrite("in/a", "two", seconds: 1_000_000)
                try await queue.run { await log.wait { $0.contains { $0.donePath == "a" } } }
                #expect(!log.events.contains { $0.staysCode != nil })
            }
            if !isWatched {
                try folder.rewrite("in/a", "two", seconds: 1_000_000)
                try await withWatch(folder, try spec(server)) { _, _, log in
                    await log.wait { $0.contains { $0.donePath == "a" } }
                    #expect(!log.events.contains { $0.staysCode != nil })
                }
            }
            #expect(inbox.puts == ["a": ["two"]])
        }
    }

    @Test func aFailedFileIsUploadedWhenItIsRewrittenWithItsSizeAndTime() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            server.handle("GET", "/in/*") { _ in Response(body: .text("two")) }
            try folder.setTime("in/a", seconds: 1_000_000)
            try await withWatch(folder, try spec(server)) { _, _, log in
                await log.wait { $0.contains { $0.staysCode == .checksumMismatch } }
                // A touched file is no new version.
                try folder.rewrite("in/a", "one", seconds: 1_000_000)
                await log.caughtUp(log.timesCaughtUp + 1)
                #expect(inbox.puts == ["a": ["one"]])
                try folder.rewrite("in/a", "two", seconds: 1_000_000)
                await log.wait { $0.contains { $0.donePath == "a" } }
            }
            #expect(inbox.puts == ["a": ["one", "two"]])
        }
    }

    @Test func tusIsAskedAtTheUploadAndAFileThatItDoesNotGiveBackStays() async throws {
        try await withTestServer { server in
            let service = server.serve("/files*", TusService(endpoint: "/files"))
            let spec = try spec(server) {
                $0.url = server.url("/files")
                $0.upload.uploadProtocol = .tus
            }
            try await withWatch(folder, spec) { _, _, log in
                await log.wait { $0.contains { $0.staysCode == .digestUnknown } }
            }
            #expect(folder.exists("in/a") && service.with { $0.uploads.count } == 1)
            #expect(server.requests.suffix(2).map(\.method) == ["HEAD", "GET"])
            let asked = Set(server.requests.suffix(2).map(\.path))
            #expect(asked == ["/files/u1"])
        }
    }

    @Test func theDigestIsPartOfTheURLWhenTheTemplateHasIt() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let digest = try await folder.sha256("in/a")
            let spec = try folder.watchSpec(server) { $0.url = server.url("/in/{sha256}") }
            try await withWatch(folder, spec) { _, _, log in await log.wait(forConfirmed: "a") }
            #expect(inbox.puts == [digest: ["one"]])
        }
    }
}
