import Foundation
import Testing
import TransferCrypto

@Suite("The algorithm and the size of public keys")
struct PublicKeySizeTests {
    /// SubjectPublicKeyInfos in base64, made by openssl.
    private static let rsa2048 =
        "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAviSf310auiIlL7m3fkp/l7R3rAUnBzkkrW/0Cy4jjfCo16"
        + "6iOtGZjiAjMF2uGxYB5qVjyTJYB5yNFo3wYZcL5Di10wV0gh5g7TuTVT/WSaNQ0BVTumEkuECS6oHyYA6+6cwv16vO"
        + "OUfppoyj4UjGRLvnTjXW8wzBz0U5ECBQcsdooOPXXmJHKxQ8wSSLqn4mq+NLcdWEEa7MkdmVJvxLGLAYiOjKJy0/ll"
        + "uWUPWf00Euj7RuijTz/cyi1VQHhcg+alq7CsxDNge7+eidIzRDIdtjULX82b1ukPV/QDUKamQSXWwHiy+YSnFy2lO/"
        + "TsbC/G4CIgsc4X3QmK2u5Qp8TwIDAQAB"
    private static let p384 =
        "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEC+Rzd+BbISN69mEUFH59Wmk/a3WQUcJax2tqlnXCbd6iYZtWALB/SEarZv"
        + "gF0JILxyIOMFrSALQVleSNfH61cUrKI8v0V5+VVHjQaX6U9dlH7wpNQYgKjYo5SVahyCnG"
    private static let ed25519 = "MCowBQYDK2VwAyEAD86NZpk8gvadcGrZXA6mfjSN/sqAFAQVuhSoMtqsyUE="

    static let keys: [(key: String, algorithm: PublicKey.Algorithm, bits: Int)] = [
        (rsa2048, .rsa, 2048), (p384, .ellipticCurve, 384), (ed25519, .other, 256),
    ]

    @Test(arguments: keys)
    func theyAreThoseOfTheKey(text: String, algorithm: PublicKey.Algorithm, bits: Int) throws {
        let key = try PublicKey(der: [UInt8](#require(Data(base64Encoded: text))))
        let size = key.size
        #expect(size.algorithm == algorithm && size.bits == bits, "\(size)")
    }
}
