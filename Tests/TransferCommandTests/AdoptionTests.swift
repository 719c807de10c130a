import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Partial files of other tools, at the destination (wget -c, curl -C -) or beside it.
@Suite struct AdoptionTests {
    static let content = Content.random(seed: 61, count: 400_000)
    static let other = Content.random(seed: 62, count: 400_000)

    enum Left: String, Sendable, CaseIterable {
        case beginning, otherBytes, whole, longer

        var bytes: Data {
            switch self {
            case .beginning: Data(content.bytes(in: 0..<300_000))
            case .otherBytes: Data(other.bytes(in: 0..<300_000))
            case .whole: Data(content.bytes(in: 0..<400_000))
            case .longer: Data(content.bytes(in: 0..<400_000)) + Data("more".utf8)
            }
        }
    }

    private func checksum(_ place: Workplace) async throws -> String {
        _ = try place.folder.write(Data(Self.content.bytes(in: 0..<400_000)), to: "whole")
        return #", "checksum": "sha256:\#(try await place.folder.sha256("whole"))""#
    }

    private static let retry = #""retry": {"limit": 4, "scale": "10ms", "jitter": false}"#

    /// Runs the job beside the file that another tool has left.
    private func run(
        _ left: Left, at name: String, _ more: (Workplace) async throws -> String,
        _ check: (ProcessResult, TestServer, Workplace) throws -> Void
    ) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", Self.content, etag: "\"a1\"")
            _ = try place.folder.write(left.bytes, to: name)
            try place.jobs([download(server.url("/a"), to: "a.iso", Self.retry + (try await more(place)))])
            try check(try await place.runJobs(), server, place)
        }
    }

    private func isWhole(_ place: Workplace) throws {
        #expect(try Self.content.firstDifference(fromFileAt: place.folder.path("a.iso")) == nil)
    }

    @Test(arguments: ["a.iso", "a.iso.part"]) func aDigestProvesItsBeginning(_ name: String) async throws {
        try await run(.beginning, at: name, checksum) { result, server, place in
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.map(\.range) == ["bytes=300000-"])
            try isWhole(place)
            #expect(result.standardError.contains("a.iso: adopted 293 KiB of "), "\(result)")
            #expect(!result.standardOutput.contains("unproven"), "\(result)")
        }
    }

    /// Returns the digests of pieces of 64 KiB, the last one shorter.
    private func pieces(_ place: Workplace) async throws -> String {
        var digests: [String] = []
        for start in stride(from: 0, to: 400_000, by: 65_536) {
            let bytes = Self.content.bytes(in: Int64(start)..<Int64(min(start + 65_536, 400_000)))
            _ = try place.folder.write(Data(bytes), to: "piece")
            digests.append("\"sha256:\(try await place.folder.sha256("piece"))\"")
        }
        return #", "pieces": {"length": "64K", "digests": [\#(digests.joined(separator: ", "))]}"#
    }

    /// Four pieces of the 300,000 bytes are whole.
    @Test(arguments: ["a.iso", "a.iso.part"]) func piecesProveItsBeginning(_ name: String) async throws {
        try await run(.beginning, at: name, pieces) { result, server, place in
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.map(\.range) == ["bytes=262144-"])
            try isWhole(place)
            #expect(result.standardError.contains("a.iso: adopted 256 KiB of "), "\(result)")
            #expect(!result.standardOutput.contains("unproven"), "\(result)")
        }
    }

    @Test(arguments: [("a.iso", 0, 0), ("a.iso.part", 0, 1), ("a.iso.part", 70_000, 1)])
    func aPieceThatIsWrongIsFetchedAgain(_ name: String, _ right: Int64, _ requests: Int) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", Self.content, etag: "\"a1\"")
            let left =
                Data(Self.content.bytes(in: 0..<right)) + Data(Self.other.bytes(in: right..<300_000))
            _ = try place.folder.write(left, to: name)
            try place.jobs([download(server.url("/a"), to: "a.iso", Self.retry + (try await pieces(place)))])
            let result = try await place.runJobs()
            // A partial file at the destination itself would have to be replaced.
            #expect(result.exitCode == (name == "a.iso" ? 1 : 0), "\(result)")
            #expect(server.requests.count == requests)
            #expect(server.requests.allSatisfy { $0.range == (right > 65_536 ? "bytes=65536-" : nil) })
            #expect(FileManager.default.contents(atPath: place.folder.path(name)) == left)
            if result.exitCode == 0 { try isWhole(place) }
        }
    }

    @Test func wholeFilesAreVerifiedByTheirPieces() async throws {
        // A file at the destination is kept, and a wrong one from the server does not get its name.
        try await run(.whole, at: "a.iso", pieces) { result, server, _ in
            #expect(result.exitCode == 0 && server.requests.isEmpty, "\(result)")
        }
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", Self.other)
            try place.jobs([download(server.url("/a"), to: "a.iso", Self.retry + (try await pieces(place)))])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1 && !place.folder.exists("a.iso"), "\(result)")
            #expect(
                result.standardError.contains("sha256 of piece 1 of 7 differs (bytes 0 to 65535)"), "\(result)")
        }
    }

    @Test func aWholePartIsProvenByItsLastByte() async throws {
        try await run(.whole, at: "a.iso.part", checksum) { result, server, place in
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.map(\.range) == ["bytes=400000-", "bytes=399999-"])
            try isWhole(place)
        }
    }

    /// A file that is not the beginning of the server's file stays unchanged.
    @Test(arguments: [Left.otherBytes, .longer]) func anotherFileIsNeverReplaced(_ left: Left) async throws {
        try await run(left, at: "a.iso", checksum) { result, _, place in
            #expect(result.exitCode == 1, "\(result)")
            #expect(result.standardError.contains("exists and has another sha256"), "\(result)")
            #expect(FileManager.default.contents(atPath: place.folder.path("a.iso")) == left.bytes)
            let files = try place.folder.files().filter { $0.hasPrefix("a.iso") }
            #expect(files == ["a.iso"])
        }
    }

    @Test(arguments: [Left.otherBytes, .longer]) func aPartialFileOfAnotherOneIsLeftAlone(_ left: Left) async throws {
        try await run(left, at: "a.iso.part", checksum) { result, _, place in
            #expect(result.exitCode == 0, "\(result)")
            try isWhole(place)
            #expect(FileManager.default.contents(atPath: place.folder.path("a.iso.part")) == left.bytes)
        }
    }

    @Test(arguments: ["a.iso", "a.iso.part"]) func aUserMayAdoptAnUnprovenBeginning(_ name: String) async throws {
        try await run(.beginning, at: name, { _ in #", "adopt": "unproven""# }) { result, server, place in
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.map(\.range) == ["bytes=300000-"])
            try isWhole(place)
            #expect(result.standardOutput.contains(#""unproven":300000"#), "\(result)")
            #expect(result.standardError.contains("warn a.iso: nothing proves its first 293 KiB"), "\(result)")
        }
    }

    @Test(arguments: ["", #", "adopt": "never""#]) func withoutAProofNothingIsAdopted(_ more: String) async throws {
        try await run(.beginning, at: "a.iso", { _ in more }) { result, server, place in
            #expect(result.exitCode == 1, "\(result)")
            #expect(server.requests.isEmpty)
            #expect(result.standardError.contains(#"write its "checksum", by which"#), "\(result)")
            #expect(FileManager.default.contents(atPath: place.folder.path("a.iso")) == Left.beginning.bytes)
        }
        try await run(.beginning, at: "a.iso.part", { _ in more }) { result, server, place in
            #expect(result.exitCode == 0 && server.requests.map(\.range) == [nil], "\(result)")
            #expect(FileManager.default.contents(atPath: place.folder.path("a.iso.part")) == Left.beginning.bytes)
        }
    }
}
