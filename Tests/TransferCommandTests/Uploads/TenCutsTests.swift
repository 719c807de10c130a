import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Uploads with repeated cuts at random places: half of the cuts kill the program, half reset its connections.
@Suite(.serialized, .timeLimit(.minutes(30))) struct TenCutsTests {
    /// The size of an upload, the number of cuts, and the limit of the sent bytes.
    struct Form {
        let size: Int64
        let cuts: Int
        /// The largest number of bytes that are sent again after a cut, beside one in twenty in all.
        let again: Int64

        /// The form that the requirement names: 1.05 times the size, and for S3 a part more for each cut.
        static func whole(_ kind: UploadPeerKind) -> Form {
            Form(size: 1 << 30, cuts: 10, again: kind.isS3 ? 5 << 20 : 0)
        }
        /// A small form, in which cuts weigh more. Two parts of S3 are under way at a time. A slow server loses the
        /// bytes in its kernel, up to half of net.ipv4.tcp_rmem's 6 MiB.
        static func small(_ kind: UploadPeerKind) -> Form {
            Form(size: 32 << 20, cuts: 4, again: kind.isS3 ? 10 << 20 : 4 << 20)
        }

        var bound: Int64 { size + size / 20 + Int64(cuts) * again }

        /// Returns the positions of the cuts among all sent bytes.
        func plan() -> [Cut] {
            var kinds = (0..<cuts).map { $0 % 2 == 0 }
            kinds.shuffle()
            let places = (0..<cuts).map { _ in Int64.random(in: (1 << 20)...(size - size / 32)) }.sorted()
            return zip(places, kinds).map { Cut(place: $0, isKill: $1) }
        }
    }

    struct Cut: CustomStringConvertible {
        let place: Int64
        let isKill: Bool
        var description: String { "\(isKill ? "kill" : "reset") at \(place)" }
    }

    @Test(arguments: UploadPeerKind.resuming) func aFewCutsCostLittle(_ kind: UploadPeerKind) async throws {
        try await cutAgainAndAgain(kind, .small(kind))
    }

    /// The in-process servers of tus and version 6 are left out, as real ones are tested; the WebDAV one is that of
    /// PUT.
    @Test(
        .enabled(if: TransferCommand.runsHeavyTests),
        arguments: UploadPeerKind.resuming.filter { ![.tus, .resumable6, .offeredWebDAV].contains($0) })
    func tenCutsOfAGibibyteCostLittle(_ kind: UploadPeerKind) async throws {
        try await cutAgainAndAgain(kind, .whole(kind))
    }

    private func cutAgainAndAgain(_ kind: UploadPeerKind, _ form: Form) async throws {
        let cuts = form.plan()
        let place = try Workplace("cuts")
        let peer = try await kind.start()
        let relay = try FaultRelay(to: peer.port)
        defer { relay.stop() }
        try place.folder.write(count: Int(form.size), seed: 7, to: "f")
        try place.folder.write("secret", to: "secret")
        let (url, members) = peer.target(relay.port)
        // A cut loses a part of each of several parallel parts of S3. rclone needs them one by one: at the completion
        // it drops an upload whose cut parts came out of order.
        let more =
            kind == .moto ? members.replacingOccurrences(of: #""parallel": 1"#, with: #""parallel": 2"#) : members
        try await cut(cuts, form, place, relay, upload("f", to: url, #""id": "f", \#(more)"#)) {
            // An upload that is killed before the offer is stored would begin anew.
            if kind.isOffered { try await place.waitForTheOffer() }
        } objects: {
            try await peer.objects()
        }
    }

    @Test(.enabled(if: SSHServer.isWanted)) func aFewCutsOfAnSFTPUploadCostLittle() async throws {
        try await cutFileServer(.sftp, Form(size: 32 << 20, cuts: 4, again: 4 << 20))
    }

    @Test(.enabled(if: SSHServer.isWanted && TransferCommand.runsHeavyTests))
    func tenCutsOfAGibibyteBySFTPCostLittle() async throws {
        try await cutFileServer(.sftp, Form(size: 1 << 30, cuts: 10, again: 0))
    }

    @Test(.enabled(if: FTPServer.isWanted)) func aFewCutsOfAnFTPUploadCostLittle() async throws {
        try await cutFileServer(.ftp, Form(size: 32 << 20, cuts: 4, again: 4 << 20))
    }

    @Test(.enabled(if: FTPServer.isWanted && TransferCommand.runsHeavyTests))
    func tenCutsOfAGibibyteByFTPCostLittle() async throws {
        try await cutFileServer(.ftp, Form(size: 1 << 30, cuts: 10, again: 0))
    }

    @Test(.enabled(if: FTPServer.isWanted)) func aFewCutsOfAnFTPSUploadCostLittle() async throws {
        try await cutFileServer(.ftps, Form(size: 32 << 20, cuts: 4, again: 4 << 20))
    }

    @Test(.enabled(if: FTPServer.isWanted && TransferCommand.runsHeavyTests))
    func tenCutsOfAGibibyteByFTPSCostLittle() async throws {
        try await cutFileServer(.ftps, Form(size: 1 << 30, cuts: 10, again: 0))
    }

    private func cutFileServer(_ kind: FileServerKind, _ form: Form) async throws {
        let bench = try await FileServerBench(kind, relaysData: kind == .ftp || kind == .ftps)
        let place = bench.place
        try place.folder.write(count: Int(form.size), seed: 7, to: "f")
        let job = upload("f", to: bench.url("in/f"), #""id": "f", "createFolders": true, \#(bench.members)"#)
        try await cut(
            form.plan(), form, place, bench.dataRelay ?? bench.relay, job, objects: { try await bench.sums() })
    }

    private func cut(
        _ cuts: [Cut], _ form: Form, _ place: Workplace, _ relay: FaultRelay, _ job: String,
        beforeTheFirst: () async throws -> Void = {}, objects: () async throws -> [String]
    ) async throws {
        try place.jobs(
            [job],
            extra: #""defaults": {"retry": {"scale": "50ms", "jitter": false, "limit": 20}}, "#)
        var command = place.command(["run", "jobs.json", "--json"])
        command.timeout = .seconds(900)

        relay.halt(at: cuts[0].place)
        var process = try command.start()
        for (index, cut) in cuts.enumerated() {
            try await until("\(cut) of \(cuts)", within: .seconds(300)) { relay.isHalted || !process.isRunning }
            guard relay.isHalted else {
                throw TestSupportError("it ended before the \(cut) of \(cuts): \(try await process.result())")
            }
            if index == 0 { try await beforeTheFirst() }
            let next = index + 1 < cuts.count ? cuts[index + 1].place : nil
            if cut.isKill {
                process.kill(SIGKILL)
                _ = try await process.result()
                // The rest of its bytes in the kernel keeps the connections open.
                relay.cutAll()
                relay.halt(at: next)
                process = try command.start()
            } else {
                relay.halt(at: next)
                relay.resetAll()
            }
        }
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(cuts): \(result)")
        let restarts = try result.events().named("job.restarted")
        #expect(restarts.isEmpty, "\(restarts)")
        let expected = try await place.folder.sha256("f")
        let objects = try await objects()
        #expect(objects == [expected], "\(cuts)")
        #expect(relay.bytesUp <= form.bound, "\(relay.bytesUp - form.size) bytes were sent again: \(cuts)")
    }
}
