import Foundation
import Synchronization
import Testing
import TransferCore
import TransferEngine
import TransferTestServer
import TransferTestSupport

@Suite(.timeLimit(.minutes(1))) struct PartialUploadTests {
    @Test(arguments: [0..<5000, 0..<0, 17..<4001, 4999..<5000], [true, false])
    func aRangeOfAFileIsSentBetweenPrefixAndSuffix(_ range: Range<Int64>, _ isFramed: Bool) async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            let path = try bench.folder.write(count: 5000, seed: 1, to: "source")
            let (prefix, suffix): ([UInt8], [UInt8]) = isFramed ? (Array("before".utf8), Array("after".utf8)) : ([], [])
            let part = SourcePart(try SourceFile(path), range: range, prefix: prefix, suffix: suffix)
            let outcome = try await bench.send("PATCH", "/in", body: .part(part)).end()
            #expect(outcome.head?.status == 201 && outcome.sent == part.length)
            let middle = Array(try bench.folder.data("source"))[Int(range.lowerBound)..<Int(range.upperBound)]
            #expect(sink.uploads.first?.bytes == prefix + middle + suffix)
        }
    }

    @Test func interimAnswersAreReportedAndDoNotEndTheExchange() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.interim(104, headers: ["Location": "/there"], count: 2)])
            let attempt = bench.send("PUT", "/in", body: .bytes([1, 2, 3]))
            #expect(try await attempt.end().head?.status == 201)
            #expect(attempt.log.interim.map(\.status) == [104, 104])
            #expect(attempt.log.interim.first?.value("Location") == "/there")
        }
    }

    @Test func aRedirectThatIsNotToBeFollowedIsTheAnswer() async throws {
        try await Bench.with { bench async throws in
            bench.server.handle("PUT", "/in") { _ in Response(status: 307, headers: ["Location": "/there"]) }
            let outcome = try await bench.send("PUT", "/in", body: .bytes([1])) { $0.followsRedirects = false }.end()
            #expect(outcome.head?.status == 307 && outcome.metrics.redirects == 0)
        }
    }

    @Test func theExpectationCanBeDisabled() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            let path = try bench.folder.write(count: 3_000_000, seed: 1, to: "source")
            let body = RequestBody.file(try SourceFile(path))
            let attempt = bench.send("PUT", "/in", body: body) { $0.expectsContinue = false }
            #expect(try await attempt.end().head?.status == 201)
            #expect(bench.server.requests.first?.headers["Expect"] == nil)
        }
    }
}
