import Testing
import TransferCore
import TransferCrypto

@Suite struct MessageAuthenticationTests {
    /// RFC 4231, test cases 1, 2, 3 and 6.
    @Test(
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ] as [([UInt8], [UInt8], String)])
    func makesRFC4231sCodes(_ key: [UInt8], _ message: [UInt8], _ code: String) throws {
        #expect(Hexadecimal.encode(try MessageAuthentication.sha256(message, key: key)) == code)
    }

    @Test func emptyKeysAndMessagesHaveCodesToo() throws {
        #expect(
            Hexadecimal.encode(try MessageAuthentication.sha256([], key: []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test(arguments: DigestAlgorithm.allCases)
    func aDigestInOneStepIsTheOneInMany(_ algorithm: DigestAlgorithm) throws {
        let bytes = Array("abc".utf8)
        let digest = try Digest(algorithm)
        bytes.withUnsafeBytes { digest.update($0) }
        #expect(try Digest.of(bytes, algorithm) == digest.finish())
    }
}
