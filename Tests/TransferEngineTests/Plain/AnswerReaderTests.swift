import Testing
import TransferCore

@testable import TransferEngine

/// What bytes of a connection mean as answers (RFC 9112).
@Suite struct AnswerReaderTests {
    struct Read: Equatable {
        var heads: [Int] = []
        var body = ""
        var hasEnded = false
        var isReadyForAnother = false
        /// Of the bytes given last.
        var unread = 0
    }

    /// Reads what comes in pieces of `size`; then the server closes the connection, where that is said.
    private func read(_ text: String, by size: Int = .max, closes: Bool = false) throws -> Read {
        var reader = AnswerReader()
        var result = Read()
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count, !result.hasEnded {
            let piece = Array(bytes[start..<min(bytes.count, start + min(size, bytes.count))])
            start += piece.count
            try piece.withUnsafeBytes { piece in
                var position = 0
                reading: while true {
                    switch try reader.next(piece, &position) {
                    case .more:
                        #expect(position == piece.count)
                        break reading
                    case .head(let head): result.heads.append(head.status)
                    case .body(let range): result.body += String(decoding: piece[range], as: UTF8.self)
                    case .end:
                        result.hasEnded = true
                        result.unread = bytes.count - start + piece.count - position
                        break reading
                    }
                }
            }
        }
        if closes, !result.hasEnded { result.hasEnded = reader.closed() }
        result.isReadyForAnother = reader.isReadyForAnother
        return result
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        var heads = [201]
        var body = ""
        var isReadyForAnother = true
        var closes = false
        var hasEnded = true
    }

    static let cases = [
        Case(testDescription: "no body", text: "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
        Case(testDescription: "no reason", text: "HTTP/1.1 201\r\ncontent-length:0\r\n\r\n"),
        Case(testDescription: "line feeds alone", text: "HTTP/1.1 201 Created\nContent-Length: 3\n\nabc", body: "abc"),
        Case(
            testDescription: "the same length twice",
            text: "HTTP/1.1 201 Created\r\nContent-Length: 3, 3\r\nContent-Length: 3\r\n\r\nabc", body: "abc"),
        Case(
            testDescription: "a status that has no body",
            text: "HTTP/1.1 204 No Content\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n", heads: [204]),
        Case(
            testDescription: "a status that has no body, and nonsense about one",
            text: "HTTP/1.1 204 No Content\r\nContent-Length: none\r\nTransfer-Encoding: x\r\n\r\n", heads: [204]),
        Case(
            testDescription: "a coding that is none",
            text: "HTTP/1.1 201 Created\r\nTransfer-Encoding: identity\r\nContent-Length: 1\r\n\r\na", body: "a"),
        Case(
            testDescription: "another coding in chunks",
            text:
                "HTTP/1.1 201 Created\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", body: "a"),
        Case(
            testDescription: "another coding",
            text: "HTTP/1.1 201 Created\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nabc", body: "abc",
            isReadyForAnother: false, closes: true),
        Case(
            testDescription: "interim answers",
            text:
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\na",
            heads: [100, 103, 201], body: "a"),
        Case(
            testDescription: "chunks",
            text:
                "HTTP/1.1 201 Created\r\nTransfer-Encoding: Chunked\r\n\r\n3;a=\"b\"\r\nabc\r\n0A \r\n0123456789\r\n0\r\nT: x\r\n\r\n",
            body: "abc0123456789"),
        Case(
            testDescription: "chunks and a length, which may be an attack",
            text:
                "HTTP/1.1 201 Created\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            body: "a", isReadyForAnother: false),
        Case(
            testDescription: "until the connection is closed", text: "HTTP/1.1 201 Created\r\nX: y\r\n\r\nabc",
            body: "abc",
            isReadyForAnother: false, closes: true),
        Case(
            testDescription: "the server will close",
            text: "HTTP/1.1 201 Created\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n", isReadyForAnother: false),
        Case(
            testDescription: "HTTP/1.0", text: "HTTP/1.0 201 Created\r\nContent-Length: 0\r\n\r\n",
            isReadyForAnother: false),
        Case(
            testDescription: "HTTP/1.0 that stays",
            text: "HTTP/1.0 201 Created\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n"),
        Case(
            testDescription: "a line that goes on",
            text: "HTTP/1.1 201 Created\r\nX: a\r\n Content-Length: 9\r\nContent-Length: 1\r\n\r\na", body: "a"),
        Case(
            testDescription: "half a body", text: "HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\nabc", body: "abc",
            isReadyForAnother: false, closes: true, hasEnded: false),
        Case(
            testDescription: "half a chunk", text: "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc",
            body: "abc", isReadyForAnother: false, closes: true, hasEnded: false),
        Case(
            testDescription: "half a head", text: "HTTP/1.1 201 Cre", heads: [], isReadyForAnother: false, closes: true,
            hasEnded: false),
    ]

    @Test(arguments: cases, [1, 2, 3, 7, Int.max]) func readsItHoweverItComes(_ one: Case, _ size: Int) throws {
        let result = try read(one.text, by: size, closes: one.closes)
        #expect(
            result
                == Read(
                    heads: one.heads, body: one.body, hasEnded: one.hasEnded, isReadyForAnother: one.isReadyForAnother))
    }

    @Test(arguments: [1, Int.max]) func leavesWhatComesBehindIt(_ size: Int) throws {
        let answer = "HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\na"
        #expect(try read(answer + "HTTP/1.1 200", by: size).unread == "HTTP/1.1 200".utf8.count)
    }

    @Test func keepsFieldsAsTheyCame() throws {
        var reader = AnswerReader()
        let text = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nX: one\r\n\ttwo\r\nContent-Length: 0\r\n\r\n"
        var position = 0
        let step = try Array(text.utf8).withUnsafeBytes { bytes in try reader.next(bytes, &position) }
        guard case .head(let head) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(head.status == 200 && head.value("ETag") == "\"a\"" && head.contentLength == 0)
        #expect(head.fields.map(\.name) == ["ETag", "X", "Content-Length"])
        #expect(head.value("X")?.split(separator: " ").map { $0.trimmingPrefix("\t") } == ["one", "two"])
    }

    @Test(arguments: [
        "\u{1}\u{2}SSH-2.0-nonsense\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000\r\n\r\n",
        "HTTP/1.1  200\r\n\r\n", "HTTP/1.1 200 OK\r\n X: y\r\n\r\n", "HTTP/1.1 200 OK\r\nX: \0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1 2\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
    ]) func refusesWhatIsNoAnswer(_ text: String) {
        for size in [1, Int.max] {
            #expect("\(text.debugDescription) by \(size)") {
                _ = try read(text, by: size)
            } throws: { error in
                (error as? TransferError)?.code == .badResponse
            }
        }
    }

    @Test func refusesAHeadWithoutEnd() {
        let text = "HTTP/1.1 200 OK\r\n" + String(repeating: "X: yyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n", count: 12_000)
        #expect(throws: TransferError.self) { try read(text, by: 16 << 10) }
    }

    @Test(arguments: ["1;" + String(repeating: "x", count: 70_000), "0\r\nT: " + String(repeating: "x", count: 70_000)])
    func refusesEndlessExtrasOfChunks(_ chunks: String) {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
        #expect(throws: TransferError.self) { try read(text, by: 16 << 10) }
    }

    @Test func readsAnyNumberOfChunks() throws {
        let chunks = String(repeating: "1\r\na\r\n", count: 70_000)
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n"
        #expect(try read(text, by: 16 << 10).body.utf8.count == 70_000)
    }

    @Test func refusesEndlessInterimAnswers() {
        let text = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: yyyyyyyyyyyyyyyyyyy\r\n\r\n", count: 6000)
        #expect(throws: TransferError.self) { try read(text, by: 16 << 10) }
    }

    @Test func readsOneAfterTheOther() throws {
        var reader = AnswerReader()
        for status in [201, 404, 204] {
            let text = Array("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n".utf8)
            let steps = try text.withUnsafeBytes { bytes in
                var position = 0
                let first = try reader.next(bytes, &position)
                #expect(reader.hasBegun && !reader.isReadyForAnother)
                return [first, try reader.next(bytes, &position)]
            }
            let head = ResponseHead(status: status, block: Array("Content-Length: 0\r\n".utf8))
            #expect(steps == [.head(head), .end])
            #expect(reader.isReadyForAnother)
            reader.reset()
            #expect(!reader.hasBegun)
        }
    }
}
