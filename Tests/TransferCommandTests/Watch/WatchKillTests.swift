import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// A watching command that is killed in the middle of uploads, with the protocols that resume. (`WatchCommandTests` and
/// the soak tests cover PUT.) The tests run one after the other: each starts servers of its own.
@Suite(.serialized, .timeLimit(.minutes(3))) struct WatchKillTests {
    private static let size = 6 << 20
    /// The kinds of peers; among the S3 servers only the one that lists every object.
    static var kinds: [UploadPeerKind] {
        UploadPeerKind.available.filter { [.tus, .resumable8, .rclone].contains($0) }
    }

    @Test(arguments: kinds) func everyFileArrivesOnce(_ kind: UploadPeerKind) async throws {
        let place = try Workplace("watch-kill")
        let peer = try await kind.start()
        let relay = try FaultRelay(to: peer.port)
        defer { relay.stop() }
        try place.folder.write("secret", to: "secret")
        let (url, members) = peer.target(relay.port)
        let expected = try await killInTheMidst(
            place, relay, to: url, members, countsFromFirstAnswer: kind.answersBeforeTheBody)
        #expect(try await peer.objects().sorted() == expected)
        #expect(try await peer.unfinished() == 0)
    }

    /// The version waited for the upload that was under way when the program died; that upload is obsolete, and is not
    /// waited for.
    @Test func aNewerVersionThatWaitedIsUploadedByTheNextStart() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            server.script("/in/a", [.stallUpload(after: 1 << 20)])
            try watch.folder.write(count: 3 << 20, seed: 1, to: "out/a")
            let first = try watch.start("-j", "1")
            try await server.waitForHeld(1)
            try watch.folder.write(count: 3 << 20, seed: 2, to: "b")
            try #require(rename(watch.folder.path("b"), watch.folder.path("out/a")) == 0)
            try await until("the newer version to wait") {
                try await watch.place.run("why", "watch:\(watch.path)/a@2").exitCode == 0
            }
            first.kill(SIGKILL)
            _ = try await first.result()
            server.release()
            let second = try watch.start()
            try await second.confirmed("a")
            try await watch.stop(second)
            let expected = try watch.place.content("out/a")
            #expect(watch.sink.uploads.filter(\.isComplete).map(\.bytes) == [expected])
        }
    }

    @Test(.enabled(if: SSHServer.isWanted)) func everyFileArrivesOnceBySFTP() async throws {
        let bench = try await FileServerBench(.sftp)
        let expected = try await killInTheMidst(
            bench.place, bench.relay, to: bench.url("in/"), #""createFolders": true, \#(bench.members)"#)
        // Names of unfinished files would be among them.
        #expect(try await bench.sums().sorted() == expected)
    }

    /// Confirms two small files while two large ones are under way; then comes `kill -9`, and a new start.
    ///
    /// - Returns: The SHA-256 of each file, sorted.
    private func killInTheMidst(
        _ place: Workplace, _ relay: FaultRelay, to url: String, _ members: String, countsFromFirstAnswer: Bool = false
    ) async throws -> [String] {
        try place.folder.write(
            """
            {"version": 1, "name": "svc", "defaults": {"retry": {"scale": "50ms", "jitter": false}},
             "watch": [{"folder": "out", "to": "\(url)", "settle": "50ms", \(members)}]}
            """, to: "svc.json")
        for name in ["a", "b"] { try place.folder.write(name, to: "out/" + name) }
        let command = place.command(["run", "svc.json", "--json"])
        let first = try command.start()
        try await first.caughtUp(confirming: 2)

        let stall = FaultRelay.Fault.stall(after: 2 << 20)
        relay.script([stall, stall], countsFromFirstAnswer: countsFromFirstAnswer)
        for (seed, name) in ["c", "d"].enumerated() {
            // The files are moved in, so that none is taken before it is whole.
            try place.folder.write(count: Self.size, seed: UInt64(seed), to: name)
            try #require(rename(place.folder.path(name), place.folder.path("out/" + name)) == 0, "\(errno)")
            // The uploads begin one after the other: a body must not come on a connection of its own, where no answer
            // comes before its end.
            try await until("the upload of \(name) to stall") { relay.stalledCount == seed + 1 }
        }
        first.kill(SIGKILL)
        #expect(try await first.result().signal == SIGKILL)
        // The rest of its bytes in the kernel keeps the connections open.
        relay.cutAll()
        relay.script([])

        let second = try command.start()
        try await second.caughtUp(confirming: 2)
        second.kill(SIGTERM)
        let result = try await second.result()
        #expect(result.exitCode == 0, "\(result)")
        let events = try result.events()
        #expect(Set(events.named("watch.confirmed").compactMap { $0["path"]?.string }) == ["c", "d"], "\(result)")
        #expect(events.named("watch.confirmed").count == 2 && events.named("job.failed").isEmpty, "\(result)")
        #expect(relay.bytesUp < Int64(Self.size) * 4, "all of it was sent again: \(relay.bytesUp)")
        var sums: [String] = []
        for name in ["a", "b", "c", "d"] { sums.append(try await place.folder.sha256("out/" + name)) }
        return sums.sorted()
    }
}
