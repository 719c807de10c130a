import Foundation
import Testing
import TransferCore
import TransferCrypto

@Suite struct DurableDigestTests {
    private static let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    @Test(arguments: DigestAlgorithm.allCases) func aDurableDigestEqualsAPlainOne(_ algorithm: DigestAlgorithm) throws {
        var digest = DurableDigest(algorithm)
        for piece in [0..<1, 1..<65, 65..<100_000, 100_000..<300_000] {
            Self.bytes[piece].withUnsafeBytes { digest.update($0) }
        }
        #expect(try digest.checksum == Digest.of(Self.bytes, algorithm))
        #expect(digest.count == 300_000)
    }

    @Test(arguments: DigestAlgorithm.allCases, [0, 1, 63, 64, 100_001])
    func aSavedDigestContinues(_ algorithm: DigestAlgorithm, _ place: Int) throws {
        var first = DurableDigest(algorithm)
        Self.bytes[..<place].withUnsafeBytes { first.update($0) }
        let text = try JSONEncoder().encode(first)
        var second = try JSONDecoder().decode(DurableDigest.self, from: text)
        #expect(second == first && second.count == place)
        Self.bytes[place...].withUnsafeBytes { second.update($0) }
        #expect(try second.checksum == Digest.of(Self.bytes, algorithm))
    }

    @Test func anotherMachinesStateIsRefused() throws {
        let text = #"{"algorithm": "sha256", "count": 3, "state": "00ff"}"#
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(DurableDigest.self, from: Data(text.utf8)) }
    }
}
