import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Copies between real servers, with cuts of each side at random places and kills of the program.
@Suite(.serialized, .timeLimit(.minutes(30))) struct CopyCutsTests {
    enum Cut: Sendable { case source, destination, kill }

    struct Form {
        let size: Int
        let cuts: [Cut]

        static let small = Form(size: 16 << 20, cuts: [.source, .source, .destination, .kill])
        /// The form that the requirement names.
        static let whole = Form(
            size: 64 << 20,
            cuts: Array(repeating: .source, count: 10) + Array(repeating: .destination, count: 10)
                + Array(repeating: .kill, count: 5))
    }

    enum Target: Sendable, CustomTestStringConvertible {
        case peer(UploadPeerKind)
        case sftp

        var testDescription: String {
            switch self {
            case .peer(let kind): kind.rawValue
            case .sftp: "sftp"
            }
        }

        static var all: [Target] {
            let kinds: [UploadPeerKind] = [.plainPut, .tuspyserver, .moto, .rclone, .resumable8]
            return kinds.filter(UploadPeerKind.available.contains).map(Target.peer)
                + (SSHServer.isWanted ? [.sftp] : [])
        }

        var isResuming: Bool {
            if case .peer(let kind) = self { kind.isResuming } else { true }
        }
        /// The number of bytes that a cut may cost.
        var again: Int64 {
            if case .peer(let kind) = self, kind.isS3 { 5 << 20 } else { 4 << 20 }
        }
    }

    @Test(arguments: Target.all) func aFewCutsOfACopyCostLittle(_ target: Target) async throws {
        try await copy(.nginx, target, .small)
    }

    @Test(.enabled(if: TransferCommand.runsHeavyTests), arguments: CopySourceKind.available, Target.all)
    func tenCutsOfEachSideAndFiveKillsCostLittle(_ source: CopySourceKind, _ target: Target) async throws {
        try await copy(source, target, .whole)
    }

    private func copy(_ kind: CopySourceKind, _ target: Target, _ form: Form) async throws {
        let place = try Workplace("copy-cuts")
        try place.folder.write("secret", to: "secret")
        let source = try await CopySourceBench(kind, size: form.size, in: place)
        switch target {
        case .peer(let kind):
            let peer = try await kind.start()
            let relay = try FaultRelay(to: peer.port)
            defer { relay.stop() }
            let (url, members) = peer.target(relay.port)
            // The source may be an object store too.
            let access = members.range(of: #", "s3":"#)
            let options = access.map { String(members[..<$0.lowerBound]) } ?? members
            let settings = access.map { String(members[$0.lowerBound...].dropFirst(2)) } ?? ""
            try await copy(source, target, form, place, relay, url, options, destination: settings) {
                try await peer.objects()
            }
        case .sftp:
            let bench = try await FileServerBench(.sftp)
            try await copy(
                source, target, form, place, bench.relay, bench.url("in/f"), #""createFolders": true"#,
                destination: bench.members
            ) {
                try await bench.sums()
            }
        }
    }

    private func copy(
        _ source: CopySourceBench, _ target: Target, _ form: Form, _ place: Workplace, _ relay: FaultRelay,
        _ url: String, _ options: String, destination: String, objects: () async throws -> [String]
    ) async throws {
        let sample = try TemporaryFolder("sample")
        try sample.write(count: form.size, seed: 7, to: "f")
        let sum = try await sample.sha256("f")
        var members = [#""id": "f", "checksum": "sha256:\#(sum)", "destination": {\#(destination)}"#]
        if !options.isEmpty { members.append(options) }
        if !source.members.isEmpty { members.append(source.members) }
        try place.jobs(
            [#"{"download": "\#(source.url)", "to": "\#(url)", \#(members.joined(separator: ", "))}"#],
            extra: #""defaults": {"retry": {"scale": "50ms", "jitter": false, "limit": 30}}, "#)
        // A destination that cannot resume begins anew by rule and is not cut: the loss of a source alone costs nothing
        // there.
        let cuts = form.cuts.filter { target.isResuming || $0 == .source }.shuffled()
        let places = cuts.map { _ in Int64.random(in: (1 << 20)...Int64(form.size - form.size / 16)) }.sorted()
        var command = place.command(["run", "jobs.json", "--json"])
        command.timeout = .seconds(600)
        // A halted destination continues only after its connection ends: a source is cut at full speed.
        let halts = zip(places, cuts).map { place, cut in cut == .source ? nil : place }
        relay.halt(at: halts[0])
        var process = try command.start()
        for (index, cut) in cuts.enumerated() {
            try await until("the cut of \(cut) at \(places[index])", within: .seconds(200)) {
                relay.isHalted || cut == .source && relay.bytesUp >= places[index] || !process.isRunning
            }
            guard process.isRunning else {
                if cut == .source { break }
                throw TestSupportError("it ended before the cut \(index): \(try await process.result())")
            }
            let next = index + 1 < cuts.count ? halts[index + 1] : nil
            switch cut {
            case .source:
                relay.halt(at: next)
                source.cut()
            case .destination:
                relay.halt(at: next)
                relay.resetAll()
            case .kill:
                process.kill(SIGKILL)
                _ = try await process.result()
                relay.cutAll()
                relay.halt(at: next)
                process = try command.start()
            }
        }
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(zip(places, cuts).map { "\($0)" }): \(result)")
        #expect(try await objects() == [sum])
        let bound =
            Int64(form.size) + Int64(form.size / 20) + Int64(cuts.count { $0 != .source }) * target.again
        #expect(relay.bytesUp <= bound, "\(relay.bytesUp - Int64(form.size)) bytes were sent again: \(cuts)")
        let end = try #require(try result.events().named("job.finished").first)
        #expect(end["digest"]?.string == "sha256:\(sum)", "\(end)")
        #expect(end["proofs"]?.array?.compactMap(\.string).contains("checksum") == true, "\(end)")
    }
}
