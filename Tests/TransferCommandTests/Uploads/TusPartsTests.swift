import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Uploads by tus in parts that the server joins (concatenation), by the command.
/// The tests run one after the other: each has tens of megabytes in memory.
@Suite(.serialized, .timeLimit(.minutes(2))) struct TusPartsTests {
    /// The size of three parts: none is smaller than 8 MiB.
    static let size = (24 << 20) + 1
    private static let chunk: Int64 = 2 << 20

    enum Break: String, CaseIterable, Sendable, CustomTestStringConvertible {
        /// The program is killed.
        case kill
        /// The server resets its connections.
        case reset

        var testDescription: String { rawValue }
    }

    @Test func partsAreSentAtTheSameTimeAndJoined() async throws {
        try await withTestServer { server in
            let (place, served) = try prepare(server)
            for part in 1...3 { server.script("/files/u\(part)", method: "PATCH", [.stallUpload(after: 1000)]) }
            let process = try place.startJobs()
            try await server.waitForHeld(3)
            #expect(served.with { $0.uploads.map(\.kind) } == [.partial, .partial, .partial])
            server.release()
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try await expectJoined(place, served)
            // The part with the odd byte has five chunks, and each other part four.
            let chunks = server.requests.filter { $0.method == "PATCH" }.map(\.bodyLength)
            #expect(chunks.count == 13 && chunks.allSatisfy { $0 <= Self.chunk })
            #expect(chunks.reduce(0, +) == Int64(Self.size))
        }
    }

    @Test(arguments: Break.allCases) func aBrokenUploadSendsOnlyTheRestOfEachPart(_ way: Break) async throws {
        try await withTestServer { server in
            let (place, served) = try prepare(server)
            // Each part has sent a chunk and the beginning of the next one when it stalls, and is cut a little later.
            let fault = Fault.stallUpload(after: 500_000).and(.cutUpload(after: 600_000))
            for part in 1...3 { server.script("/files/u\(part)", method: "PATCH", [.none, fault]) }
            let process = try place.startJobs()
            try await server.waitForHeld(3)
            if way == .kill { process.kill(SIGKILL) }
            server.release()
            let broken = try await process.result()
            #expect(way == .kill ? broken.signal == SIGKILL : broken.exitCode == 1, "\(broken)")
            // The bytes under way have arrived by then.
            try await server.waitForConnections(closed: server.connectionCount)
            let count = server.requests.count
            #expect(served.with { $0.received } >= 3 * (Self.chunk + 500_000))
            #expect(served.with { $0.finished.isEmpty })

            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try result.events().named("job.restarted").isEmpty, "\(result)")
            try await expectJoined(place, served)
            #expect(served.with { $0.received } == Int64(Self.size), "a byte was sent twice")
            let later = server.requests.dropFirst(count)
            // The requests are for the three parts, and for the joined file.
            #expect(later.filter { $0.method == "HEAD" }.count == 4)
            let posts = later.filter { $0.method == "POST" }.map { $0.headers["Upload-Concat"] ?? "" }
            #expect(posts.count == 1 && posts.allSatisfy { $0.hasPrefix("final;") }, "\(posts)")
        }
    }

    /// tus has no query for the result.
    @Test func aLostAnswerToTheJoiningMakesNoSecondObject() async throws {
        try await withTestServer { server in
            let (place, served) = try prepare(server, limit: 20)
            // The fault follows the creations of the parts.
            server.script("/files", method: "POST", [.none, .none, .none, .closeBeforeHead])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            let end = try result.events().named("job.failed").first
            #expect(end?["code"]?.string == "mayHaveBeenSent", "\(result)")
            try await expectJoined(place, served)
        }
    }

    private func prepare(
        _ server: TestServer, limit: Int = 0
    ) throws -> (place: Workplace, served: ServedUploads<TusService>) {
        var service = TusService(endpoint: "/files")
        // The parts are kept for inspection.
        service.removesJoinedParts = false
        let served = server.serve("/files*", service)
        let place = try Workplace("parts")
        try place.folder.write(count: Self.size, seed: 7, to: "f")
        let members = #""id": "f", "protocol": "tus", "parallel": 3, "chunkSize": \#(Self.chunk)"#
        try place.jobs(
            [upload("f", to: server.url("/files"), members)],
            extra: #""defaults": {"retry": {"scale": "50ms", "jitter": false, "limit": \#(limit)}}, "#)
        return (place, served)
    }

    /// Expects that the server holds three whole parts, and one file that was joined from them.
    private func expectJoined(
        _ place: Workplace, _ served: ServedUploads<TusService>, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let uploads = served.with { $0.uploads }
        let parts = uploads.filter { $0.kind == .partial }
        let least: Int64 = 8 << 20
        #expect(parts.map(\.length).sorted() == [least, least, least + 1], sourceLocation: location)
        #expect(parts.allSatisfy { $0.isComplete }, sourceLocation: location)
        let joined = uploads.filter { $0.kind != .partial }
        #expect(joined.count == 1 && joined.first?.metadata["filename"] == "f", sourceLocation: location)
        let sum = try await digest("sha256", joined.first?.bytes ?? [])
        let expected = try await place.folder.sha256("f")
        #expect(sum == expected, sourceLocation: location)
    }
}
