import Testing
import TransferCore
import TransferTestServer

@testable import TransferEngine

/// The parsing of a head's field lines, and the heads that end the transfer (RFC 9112 §5.2 and §6.3).
@Suite struct HeadRuleTests {
    @Test(arguments: [
        "", "Content-Length: 5\r\n", "Content-Length: 0\r\nX: 1\r\n", "X-A: b\nContent-Length: 5\n",
        "Content-Range: bytes 0-4/9\r\nContent-Range:bytes 0-4/9 \r\n", "Transfer-Encoding: chunked\r\nX: a, b\r\n",
        "No colon in this one\r\nETag: \"1\"\r\n",
    ])
    func aPlainHeadStaysAsItIs(_ block: String) throws {
        #expect(try HeadRule.judge(Array(block.utf8)) == Array(block.utf8))
    }

    @Test(arguments: [
        ("X: a\r\n b\r\nY: c\r\n", "X: a b\r\nY: c\r\n"),
        ("X: a\r\n\tb\r\n  c\r\nContent-Length: 5\r\n", "X: a b c\r\nContent-Length: 5\r\n"),
        ("X: a\n b: c\n", "X: a b: c\n"),
    ])
    func aFoldElsewhereBecomesASpace(_ block: String, _ unfolded: String) throws {
        #expect(String(decoding: try HeadRule.judge(Array(block.utf8)), as: UTF8.self) == unfolded)
    }

    @Test(arguments: [
        "Content-Length: 5, 5\r\n", "Content-Length: 5\r\nContent-Length: 5\r\n", "content-length: 5,05 , 5\r\n",
    ])
    func equalLengthsAreAccepted(_ block: String) throws {
        let judged = ResponseHead(status: 200, block: try HeadRule.judge(Array("A: b\r\n\(block)C: d\r\n".utf8)))
        #expect(judged.contentLength == 5)
        #expect(judged.fields.count == 3 && judged.value("A") == "b" && judged.value("C") == "d")
    }

    @Test(arguments: [
        "Content-Length: 5, 11\r\n", "Content-Length: 0xb\r\n", "Content-Length: 1 1\r\n", "Content-Length: 5abc\r\n",
        "Content-Length: \r\n", "Content-Length: +5\r\n", "Content-Length: -5\r\n", "Content-Length: 5,\r\n",
        "Content-Length: 5\r\nX: 1\r\nContent-Length: 11\r\n", "Content-Length: 99999999999999999999\r\n",
        "Content-Length: 5.0\r\n", "Content-Length:\r\n 5\r\n", "Transfer-Encoding:\r\n chunked\r\n",
        "Content-Range: bytes 0-4/\r\n\t5\r\n", " folded: x\r\nContent-Length: 5\r\n", "\tx\r\n",
        "A: b\r\n\r\n folded: x\r\n",
        "Content-Range: bytes 0-4/9\r\nContent-Range: bytes 5-8/9\r\n",
        "Content-Range: bytes 0-4/9\r\nX: y\r\ncontent-range:bytes 0-4/10\r\n",
    ])
    func aHeadThatCanBeReadInTwoWaysEndsTheTransfer(_ block: String) {
        let error = #expect(throws: TransferError.self) { try HeadRule.judge(Array(block.utf8)) }
        #expect(error?.code == .badResponse && error?.isTransient == true)
    }
}

/// The same rules through libcurl.
@Suite("Heads that can be read in two ways", .timeLimit(.minutes(1)))
struct AmbiguousHeadTests {
    /// Before 8.1.1, a reused handle of libcurl keeps a pointer to the fields of the previous answer.
    @Test func aFirstFieldLineThatIsAFoldEndsTheTransferAndNothingElse() async throws {
        try await Bench.with { bench in
            let fold = Fault.garbage(Array("HTTP/1.1 200 OK\r\n folded: x\r\nContent-Length: 5\r\n\r\nhello".utf8))
            bench.server.serve("/good", .text("hello"))
            bench.server.serve("/fold", .text("x"))
            bench.server.script("/fold", [], afterwards: fold)
            for _ in 0..<4 {
                let good = try await bench.send("GET", "/good").end()
                #expect(good.head?.status == 200)
                let bad = try await bench.send("GET", "/fold").end()
                #expect(bad.error?.isTransient == true, "\(String(describing: bad.error))")
            }
        }
    }

    @Test(arguments: [
        "Content-Length: 5, 11", "Content-Length: 0xb", "Content-Length: 1 1", "Content-Length: 5abc",
        "Transfer-Encoding:\r\n chunked", "Content-Length: 5\r\nContent-Length: 11",
    ])
    func aBodyThatIsFramedInTwoWaysIsNoFile(_ fields: String) async throws {
        try await Bench.with { bench in
            let answer = Fault.garbage(Array("HTTP/1.1 200 OK\r\nX: y\r\n\(fields)\r\n\r\nhello world".utf8))
            bench.server.serve("/x", .text("hello world"))
            bench.server.script("/x", [answer])
            let (outcome, _) = try await bench.download("/x")
            #expect(outcome.error?.code == .badResponse && outcome.error?.isTransient == true)
            #expect(outcome.position == 0)
        }
    }

    /// The rules do not judge a 1xx head, since it frames nothing, and it does not change how the final head is read.
    @Test func anInterimHeadChangesNothing() async throws {
        try await Bench.with { bench in
            let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 3\r\n\r\n"
            let final = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world"
            bench.server.serve("/x", .text("hello world"))
            bench.server.script("/x", [.garbage(Array((interim + interim + final).utf8))])
            let (outcome, _) = try await bench.download("/x")
            #expect(outcome.error == nil && outcome.position == 11, "\(outcome.result)")
        }
    }

    @Test(arguments: [
        "Content-Length: 5", "Content-Length: 5, 11", "Transfer-Encoding: gzip",
        "X-Long: \(String(repeating: "x", count: 3000))",
    ])
    func aTrailerFramesNothing(_ trailer: String) async throws {
        try await Bench.with { bench in
            let answer =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n0\r\n\(trailer)\r\n\r\n"
            bench.server.serve("/x", .text("hello world"))
            bench.server.script("/x", [.garbage(Array(answer.utf8))])
            let (outcome, _) = try await bench.download("/x")
            #expect(outcome.error == nil && outcome.position == 11, "\(outcome.result)")
        }
    }

    /// The error names the length of the head, and not a lack of memory.
    @Test(arguments: [(1, 1 << 20, "100 KiB"), (2000, 1000, "300 KiB")])
    func anOverlongHeadIsReported(_ lines: Int, _ length: Int, _ bound: String) async throws {
        try await Bench.with { bench in
            let field = "X-Long: \(String(repeating: "x", count: length))\r\n"
            let answer = "HTTP/1.1 200 OK\r\n" + String(repeating: field, count: lines) + "Content-Length: 1\r\n\r\nx"
            bench.server.serve("/x", .text("x"))
            bench.server.script("/x", [.garbage(Array(answer.utf8))])
            let (outcome, _) = try await bench.download("/x")
            #expect(outcome.error?.code == .badResponse && outcome.error?.isTransient == true, "\(outcome.result)")
            #expect(outcome.error?.message.contains("more than \(bound)") == true, "\(outcome.result)")
        }
    }

    @Test func overlongTrailersAreReported() async throws {
        try await Bench.with { bench in
            let trailer = "X-Long: \(String(repeating: "x", count: 20_000))"
            let answer =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n0\r\n\(trailer)\r\n\r\n"
            bench.server.serve("/x", .text("hello world"))
            bench.server.script("/x", [.garbage(Array(answer.utf8))])
            let (outcome, _) = try await bench.download("/x")
            #expect(outcome.error?.message.contains("trailers of more than 4 KiB") == true, "\(outcome.result)")
        }
    }
}
