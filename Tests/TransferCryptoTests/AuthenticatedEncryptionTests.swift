import Testing
import TransferCrypto

@Suite struct AuthenticatedEncryptionTests {
    private let key = [UInt8](repeating: 7, count: AuthenticatedEncryption.keyLength)

    @Test(arguments: [0, 1, 16, 5000])
    func whatIsSealedIsOpened(count: Int) throws {
        let plain = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let sealed = try AuthenticatedEncryption.seal(plain, key: key, context: [1])
        #expect(sealed.count == count + 28, "a nonce of 12 bytes and a tag of 16")
        #expect(AuthenticatedEncryption.open(sealed, key: key, context: [1]) == plain)
    }

    @Test func equalBytesAreNeverSealedAlike() throws {
        let one = try AuthenticatedEncryption.seal([1, 2, 3], key: key)
        #expect(try AuthenticatedEncryption.seal([1, 2, 3], key: key) != one)
    }

    /// The bytes of a nonce, of the text and of a tag are changed in turn.
    @Test func changedBytesAreNotOpened() throws {
        let sealed = try AuthenticatedEncryption.seal([1, 2, 3], key: key)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(AuthenticatedEncryption.open(changed, key: key) == nil)
        }
        for count in 0..<sealed.count {
            #expect(AuthenticatedEncryption.open(Array(sealed.prefix(count)), key: key) == nil)
        }
    }

    @Test func anotherKeyOrContextOpensNothing() throws {
        let sealed = try AuthenticatedEncryption.seal([1, 2, 3], key: key, context: [1])
        var other = key
        other[31] ^= 1
        #expect(AuthenticatedEncryption.open(sealed, key: other, context: [1]) == nil)
        #expect(AuthenticatedEncryption.open(sealed, key: key, context: [2]) == nil)
        #expect(AuthenticatedEncryption.open(sealed, key: [1, 2], context: [1]) == nil)
        #expect(throws: (any Error).self) { try AuthenticatedEncryption.seal([1], key: [1, 2]) }
    }
}
