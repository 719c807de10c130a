import CTransferZlib
import Foundation
import FoundationNetworking
import Testing
import TransferCore
import TransferTestServer

@testable import TransferNetworking

/// Content codings, their bounds and their faults.
@Suite(.timeLimit(.minutes(2))) struct CodingTests {
    static let text = "hello hello hello hello"

    private func answer(_ coding: String, _ bytes: [UInt8], limit: Int64? = nil) async throws -> AFDataResponse<Data> {
        try await withTestServer { server async throws in
            server.handle("GET", "/x") { _ in Response(headers: ["Content-Encoding": coding], body: .bytes(bytes)) }
            let session = makeSession { if let limit { $0.maxDecodedLength = limit } }
            return await session.request(server.url("/x")).serializingData().response
        }
    }

    static func coded(_ coding: String, _ bytes: [UInt8]) -> [UInt8] {
        switch coding {
        case "gzip": deflated(bytes, windowBits: 31)
        case "deflate": deflated(bytes, windowBits: 15)
        case "zstd": Zstandard.stored(bytes)
        default: []
        }
    }

    /// - Parameter windowBits: zlib.h: 15 for zlib's own wrapping, 31 for gzip's.
    private static func deflated(_ bytes: [UInt8], windowBits: Int32) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(
            &stream, 6, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, zlibVersion(),
            Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var source = bytes
        var target = [UInt8](repeating: 0, count: bytes.count + 1024)
        source.withUnsafeMutableBufferPointer { source in
            target.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                deflate(&stream, Z_FINISH)
            }
        }
        return Array(target.prefix(Int(stream.total_out)))
    }

    /// Made by the brotli library: the text above, and 20,000,000 zeros.
    static let brotliText = bytes("1b16000024406a1065eaf09c3e")
    private static let brotliBomb = bytes(
        "cbffff3f002400e2b14072effff8ffff078004401c1680eefd5ffeb3c400900088c302d0258901")

    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).map { offset in
            let start = hex.index(hex.startIndex, offsetBy: offset)
            return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16) ?? 0
        }
    }

    @Test(arguments: ["gzip", "deflate", "br", "zstd"])
    func isDecoded(_ coding: String) async throws {
        let body = coding == "br" ? Self.brotliText : Self.coded(coding, Array(Self.text.utf8))
        let response = try await answer(coding, body)
        #expect(response.value == Data(Self.text.utf8), "\(String(describing: response.error))")
    }

    @Test(arguments: ["gzip", "deflate", "br", "zstd"])
    func aBombIsRefusedAtTheBound(_ coding: String) async throws {
        let bomb =
            switch coding {
            case "br": Self.brotliBomb
            case "zstd": Zstandard.repeated(0, count: 20_000_000)
            default: Self.coded(coding, [UInt8](repeating: 0, count: 20_000_000))
            }
        #expect(bomb.count < 100_000)
        let response = try await answer(coding, bomb, limit: 1_000_000)
        let cause = try #require((response.error?.underlyingError as? URLError)?.transferError)
        #expect(cause.code == .badResponse && cause.message.contains("1000000"))
        // Below the bound it is an ordinary answer.
        let whole = try await answer(coding, bomb, limit: 20_000_000)
        #expect(whole.value?.count == 20_000_000)
    }

    @Test func codingsAreTakenOffInTheirOrder() async throws {
        let twice = Self.coded("deflate", Self.coded("gzip", Array(Self.text.utf8)))
        #expect(try await answer("gzip, deflate", twice).value == Data(Self.text.utf8))
        let brotliInside = Self.coded("gzip", Self.brotliText)
        #expect(try await answer("br, gzip", brotliInside).value == Data(Self.text.utf8))
    }

    @Test func aBombInABombIsRefusedToo() async throws {
        let inner = Self.coded("gzip", [UInt8](repeating: 0, count: 20_000_000))
        let response = try await answer("gzip, gzip", Self.coded("gzip", inner), limit: 1_000_000)
        let cause = try #require((response.error?.underlyingError as? URLError)?.transferError)
        #expect(cause.message.contains("1000000"))
    }

    @Test(arguments: ["gzip", "br", "zstd"])
    func aCorruptBodyIsAnError(_ coding: String) async throws {
        let random = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ $0 >> 3) }
        var body = coding == "br" ? Self.brotliBomb : Self.coded(coding, random)
        for index in body.indices.dropFirst(body.count / 3).prefix(20) { body[index] ^= 0xA5 }
        if coding == "zstd" { body[0] ^= 1 }
        let response = try await answer(coding, body)
        let cause = try #require((response.error?.underlyingError as? URLError)?.transferError)
        #expect(cause.code == .badResponse)
    }

    @Test func anUnknownCodingIsDeliveredUndecoded() async throws {
        let response = try await answer("compress", [0x1F, 0x9D, 1, 2])
        #expect(response.value == Data([0x1F, 0x9D, 1, 2]))
        #expect(response.response?.value(forHTTPHeaderField: "Content-Encoding") == "compress")
    }
}

/// Frames of Zstandard (RFC 8878) whose blocks are stored or repeat one byte.
enum Zstandard {
    private static let head: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 7 << 3]
    private static let blockLimit = 128 << 10

    static func stored(_ bytes: [UInt8]) -> [UInt8] { frame(bytes.count, type: 0) { Array(bytes[$0]) } }

    static func repeated(_ byte: UInt8, count: Int) -> [UInt8] { frame(count, type: 1) { _ in [byte] } }

    private static func frame(_ count: Int, type: Int, _ content: (Range<Int>) -> [UInt8]) -> [UInt8] {
        var frame = head
        for start in stride(from: 0, to: count, by: blockLimit) {
            let end = min(start + blockLimit, count)
            let block = (end == count ? 1 : 0) | type << 1 | (end - start) << 3
            frame += (0..<3).map { UInt8(truncatingIfNeeded: block >> (8 * $0)) } + content(start..<end)
        }
        return frame
    }
}
