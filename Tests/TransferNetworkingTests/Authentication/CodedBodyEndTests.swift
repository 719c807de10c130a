import Foundation
import FoundationNetworking
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine
@testable import TransferNetworking

/// A coded body has an end mark of its own, which its framing does not know.
@Suite(.timeLimit(.minutes(2))) struct CodedBodyEndTests {
    static let codings = ["gzip", "deflate", "br", "zstd"]
    /// The ways in which the server marks the end of the body.
    static let framings: [String: [Fault]] = [
        "Content-Length": [], "chunked": [.chunked(size: 7)], "end of the connection": [.noContentLength],
    ]

    private static func body(_ coding: String) -> [UInt8] {
        coding == "br" ? CodingTests.brotliText : CodingTests.coded(coding, Array(CodingTests.text.utf8))
    }

    private static func isDecodingError(_ error: AFError?) -> Bool {
        guard case .sessionTaskFailed(let cause as URLError) = error else { return false }
        return cause.code == .cannotDecodeContentData && cause.transferError?.code == .badResponse
            && cause.transferError?.isTransient == true
    }

    private func answer(
        _ coding: String, _ bytes: [UInt8], _ faults: [Fault] = []
    ) async throws -> AFDataResponse<Data> {
        try await withTestServer { server async throws in
            server.serve("/x", ServedFile(.bytes(bytes), headers: ["Content-Encoding": coding]))
            server.script("/x", faults)
            return await makeSession().request(server.url("/x")).serializingData().response
        }
    }

    @Test(arguments: codings, framings.keys.sorted())
    func aStreamThatEndsEarlyIsAFailure(_ coding: String, _ framing: String) async throws {
        let body = Self.body(coding)
        let faults = try #require(Self.framings[framing])
        for missing in [1, 4, body.count - 1] {
            let response = try await answer(coding, body.dropLast(missing), faults)
            #expect(Self.isDecodingError(response.error), "\(missing) missing: \(response)")
        }
        let whole = try await answer(coding, body, faults)
        #expect(whole.value == Data(CodingTests.text.utf8))
    }

    @Test(arguments: ["gzip", "deflate", "br"])
    func bytesAfterTheEndAreAFailure(_ coding: String) async throws {
        let response = try await answer(coding, Self.body(coding) + [1, 2, 3])
        #expect(Self.isDecodingError(response.error))
    }

    @Test func anInnerStreamThatEndsEarlyIsAFailure() async throws {
        let inner = Self.body("gzip").dropLast(9)
        let response = try await answer("gzip, deflate", CodingTests.coded("deflate", Array(inner)))
        #expect(Self.isDecodingError(response.error))
    }

    @Test func membersOfAGzipFileAreDecodedOneAfterTheOther() async throws {
        let twice = Self.body("gzip") + Self.body("gzip")
        let response = try await answer("gzip", twice)
        #expect(response.value == Data((CodingTests.text + CodingTests.text).utf8))
        let second = try await answer("gzip", twice.dropLast(8))
        #expect(Self.isDecodingError(second.error))
    }

    @Test func bareDeflateIsDecodedToo() async throws {
        // The stream lacks zlib's two leading bytes and its trailing check value.
        let bare = Array(Self.body("deflate").dropFirst(2).dropLast(4))
        let response = try await answer("deflate", bare)
        #expect(response.value == Data(CodingTests.text.utf8))
        let short = try await answer("deflate", bare.dropLast(2))
        #expect(Self.isDecodingError(short.error))
    }

    @Test func moreThanFiveCodingsAreRefused() async throws {
        let response = try await answer(Array(repeating: "gzip", count: 6).joined(separator: ","), Self.body("gzip"))
        #expect(Self.isDecodingError(response.error))
    }

    @Test(arguments: codings)
    func anAnswerWithoutABodyHasNothingToDecode(_ coding: String) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", ServedFile(.bytes(Self.body(coding)), headers: ["Content-Encoding": coding]))
            for (path, status) in [("/200", 200), ("/204", 204), ("/304", 304)] {
                server.handle("GET", path) { _ in Response(status: status, headers: ["Content-Encoding": coding]) }
            }
            let session = makeSession()
            let head = await session.request(server.url("/x"), method: .head).response()
            #expect(head.error == nil && head.response?.statusCode == 200)
            for (path, status) in [("/200", 200), ("/204", 204), ("/304", 304)] {
                let response = await session.request(server.url(path)).response()
                #expect(response.error == nil && response.response?.statusCode == status, "\(response)")
            }
        }
    }

    @Test func aPartOfACodedBodyNeedNotHaveItsEnd() async throws {
        try await withTestServer { server async throws in
            let body = Self.body("gzip")
            server.handle("GET", "/x") { _ in
                Response(
                    status: 206,
                    headers: ["Content-Encoding": "gzip", "Content-Range": "bytes 0-19/\(body.count)"],
                    body: .bytes(Array(body[..<20])))
            }
            let response = await makeSession().request(server.url("/x"), headers: ["Range": "bytes=0-19"]).response()
            #expect(response.error == nil && response.response?.statusCode == 206)
        }
    }

    @Test func overHTTP2TheEndIsAskedForToo() async throws {
        let folder = try TemporaryFolder("coded")
        var options = NginxServer.Options()
        options.certificate = try await ServerCertificate.make(in: folder)
        options.speaksHTTP2 = true
        options.location = "add_header Content-Encoding gzip;"
        let server = try await NginxServer.start(options: options)
        let body = Self.body("gzip")
        try Data(body).write(to: URL(fileURLWithPath: server.root + "/whole"))
        try Data(body.dropLast(5)).write(to: URL(fileURLWithPath: server.root + "/short"))
        var settings = SessionSettings()
        settings.loops = 1
        settings.authorities = options.certificate?.path
        let session = Session(settings)
        let whole = await session.request(server.url("/whole")).serializingString().response
        #expect(whole.value == CodingTests.text, "\(String(describing: whole.error))")
        #expect(whole.metrics?.transactionMetrics.last?.networkProtocolName == "h2")
        let short = await session.request(server.url("/short")).serializingString().response
        #expect(Self.isDecodingError(short.error))
    }

    /// One piece from the network expands to many times the window of a stream.
    @Test(arguments: ["gzip", "zstd"])
    func aStreamThatIsReadSlowlyGetsAllOfIt(_ coding: String) async throws {
        let count = 12_000_000
        let body =
            coding == "zstd"
            ? Zstandard.repeated(7, count: count) : CodingTests.coded("gzip", [UInt8](repeating: 7, count: count))
        try await withTestServer { server async throws in
            server.serve("/x", ServedFile(.bytes(body), headers: ["Content-Encoding": coding]))
            let request = makeSession().streamRequest(server.url("/x"))
            var received = 0
            for await stream in request.streamTask().streamingData() {
                switch stream.event {
                case .stream(.success(let data)):
                    received += data.count
                    #expect(data.allSatisfy { $0 == 7 })
                    await Task.yield()
                case .complete(let completion): #expect(completion.error == nil)
                }
            }
            #expect(received == count)
        }
    }

    // MARK: The decoder itself

    @Test(arguments: codings, [1, 3, 1000])
    func everyBeginningIsIncompleteAndTheWholeIsNot(_ coding: String, _ pieceSize: Int) throws {
        let body = Self.body(coding)
        for count in 1...body.count {
            let decoder = try ContentDecoder(ContentCoding.layers(coding))
            var output: [UInt8] = []
            for start in stride(from: 0, to: count, by: pieceSize) {
                try body[start..<min(start + pieceSize, count)].withUnsafeBytes { bytes in
                    var rest = bytes
                    while let piece = try decoder.next(&rest) { output += Array(piece) }
                    #expect(rest.isEmpty)
                }
            }
            #expect((decoder.failure == nil) == (count == body.count), "\(count) of \(body.count)")
            if count == body.count { #expect(output == Array(CodingTests.text.utf8)) }
        }
    }

    @Test func nothingAtAllIsNoFailure() throws {
        let decoder = try ContentDecoder(ContentCoding.layers("gzip"))
        #expect(decoder.failure == nil)
    }
}
