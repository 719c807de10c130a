import CTransferZlib
import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Deflate request compressor")
struct DeflateRequestCompressorTests {
    private func adapted(
        _ body: Data?, headers: HTTPHeaders = [:], _ compressor: DeflateRequestCompressor = .init()
    ) throws -> URLRequest {
        var request = try URLRequest(url: "http://127.0.0.1/", method: .post, headers: headers)
        request.httpBody = body
        let answers = Calls<Result<URLRequest, any Error>>()
        compressor.adapt(request, for: makeSession()) { answers.add($0) }
        #expect(answers.all.count == 1)
        return try #require(answers.all.first).get()
    }

    @Test(arguments: [0, 1, 100, 65_536, 1_000_000])
    func zlibInflatesTheOriginalBytes(count: Int) throws {
        var generator = SampleBytes(seed: 3)
        // Half of the body is compressible.
        let body = Data(count: count / 2) + generator.next(count - count / 2)
        let compressed = try #require(try adapted(body).httpBody)
        #expect(inflated(compressed, limit: count) == body)
        #expect(compressed.prefix(2) == Data([0x78, 0x5E]))
    }

    @Test func theStreamEndsWithTheChecksumInNetworkOrder() throws {
        let compressed = try #require(try adapted(Data("Wikipedia".utf8)).httpBody)
        // The well-known example of Adler-32.
        #expect(compressed.suffix(4) == Data([0x11, 0xE6, 0x03, 0x98]))
    }

    @Test func aSliceIsCompressedFromItsStart() throws {
        let compressed = try #require(try adapted(Data("0123456789".utf8)[2..<5]).httpBody)
        #expect(inflated(compressed, limit: 3) == Data("234".utf8))
    }

    @Test func compressibleBodiesShrink() throws {
        let body = Data(String(repeating: "{\"key\": \"value\"},", count: 10_000).utf8)
        let compressed = try #require(try adapted(body).httpBody)
        #expect(compressed.count < body.count / 50)
    }

    @Test func theCodingIsNamedAndAStaleLengthIsTakenOut() throws {
        let request = try adapted(Data("x".utf8), headers: ["Content-Length": "1", "X-Other": "1"])
        #expect(request.headers["Content-Encoding"] == "deflate")
        #expect(request.headers["Content-Length"] == nil)
        #expect(request.headers["X-Other"] == "1")
    }

    @Test func aRequestWithoutABodyIsLeftAlone() throws {
        let request = try adapted(nil, headers: ["Content-Encoding": "br"])
        #expect(request.httpBody == nil)
        #expect(request.headers["Content-Encoding"] == "br")
    }

    @Test func theClosureDecidesByTheBody() throws {
        let compressor = DeflateRequestCompressor { $0.count > 5 }
        let small = try adapted(Data(count: 5), compressor)
        #expect(small.httpBody == Data(count: 5))
        #expect(small.headers["Content-Encoding"] == nil)
        let big = try adapted(Data(count: 6), compressor)
        #expect(big.headers["Content-Encoding"] == "deflate")
    }

    @Test func aSecondCodingIsAnErrorUnlessSaidOtherwise() {
        #expect(throws: DeflateRequestCompressor.DuplicateHeaderError.self) {
            try adapted(Data("x".utf8), headers: ["content-encoding": "br"])
        }
    }

    @Test func aSecondCodingIsReplacedOnDemand() throws {
        let request = try adapted(
            Data("x".utf8), headers: ["Content-Encoding": "br"], .init(duplicateHeaderBehavior: .replace))
        #expect(request.headers["Content-Encoding"] == "deflate")
        let body = try #require(request.httpBody)
        #expect(inflated(body, limit: 1) == Data("x".utf8))
    }

    @Test func aRequestWithACodingIsSkippedOnDemand() throws {
        let request = try adapted(
            Data("x".utf8), headers: ["Content-Encoding": "br"], .init(duplicateHeaderBehavior: .skip))
        #expect(request.headers["Content-Encoding"] == "br")
        #expect(request.httpBody == Data("x".utf8))
    }

    @Test func theDefaultIsToRefuseASecondCodingAndCompressAll() {
        let compressor: DeflateRequestCompressor = .deflateCompressor
        #expect(compressor.duplicateHeaderBehavior == .error)
        #expect(compressor.shouldCompressBodyData(Data()))
        let custom: DeflateRequestCompressor = .deflateCompressor(
            duplicateHeaderBehavior: .skip, shouldCompressBodyData: { _ in false })
        #expect(custom.duplicateHeaderBehavior == .skip)
        #expect(!custom.shouldCompressBodyData(Data()))
    }

    @Test func aServerInflatesTheBody() async throws {
        let body = Data(String(repeating: "over the wire ", count: 20_000).utf8)
        try await withTestServer { server async throws in
            server.handle("POST", "/in") { request in
                let plain = inflated(Data(request.body), limit: body.count)
                let isRight =
                    plain == body && request.headers["Content-Encoding"] == "deflate"
                    && request.headers["Content-Length"] == "\(request.body.count)" && request.body.count < 10_000
                return Response(status: isRight ? 200 : 400)
            }
            var request = try URLRequest(url: server.url("/in"), method: .post)
            request.httpBody = body
            let response = await makeSession().request(request, interceptor: .deflateCompressor).response()
            #expect(response.response?.statusCode == 200)
        }
    }

    @Test func aSecondCodingFailsTheRequestBeforeItIsSent() async throws {
        try await withTestServer { server async throws in
            server.serve("/in", .text("x"))
            var request = try URLRequest(url: server.url("/in"), method: .post, headers: ["Content-Encoding": "br"])
            request.httpBody = Data("x".utf8)
            let response = await makeSession().request(request, interceptor: .deflateCompressor).response()
            guard case .requestAdaptationFailed(let error) = response.error else {
                Issue.record("\(String(describing: response.error))")
                return
            }
            #expect(error is DeflateRequestCompressor.DuplicateHeaderError)
            #expect(server.requests.isEmpty)
        }
    }
}

/// Returns the data as zlib itself inflates it; empty if it is no zlib stream, or inflates to more than `limit` bytes.
private func inflated(_ data: Data, limit: Int) -> Data {
    var output = Data(count: limit + 1)
    var count = uLong(limit + 1)
    let code = output.withUnsafeMutableBytes { room in
        data.withUnsafeBytes { bytes in
            uncompress(
                room.bindMemory(to: UInt8.self).baseAddress, &count, bytes.bindMemory(to: UInt8.self).baseAddress,
                uLong(bytes.count))
        }
    }
    return code == Z_OK && Int(count) <= limit ? output.prefix(Int(count)) : Data("not a zlib stream".utf8)
}
