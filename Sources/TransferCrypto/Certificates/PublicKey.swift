import CTransferOpenSSL
public import TransferCore

/// A public key in the form of certificates (SubjectPublicKeyInfo, RFC 5280 §4.1.2.7). It does not change when a
/// certificate is renewed with the same key, so a pin of it stays valid for longer.
public final class PublicKey: Sendable, Hashable, CustomStringConvertible {
    /// The bytes of the SubjectPublicKeyInfo.
    public let der: [UInt8]

    /// Creates a key from its bytes.
    ///
    /// - Throws: `TransferError` where the bytes are no SubjectPublicKeyInfo.
    public init(der: [UInt8]) throws(TransferError) {
        OpenSSLLibrary.clearErrors()
        let key = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var place = buffer.baseAddress
            return d2i_PUBKEY(nil, &place, buffer.count)
        }
        guard let key else { throw OpenSSLText.failure(.invalidRequest, "the bytes are no public key") }
        defer { EVP_PKEY_free(key) }
        // The canonical form leaves out any bytes that followed the key.
        self.der = OpenSSLText.encoded { i2d_PUBKEY(key, $0) }
    }

    init(of certificate: OpaquePointer) {
        der = OpenSSLText.encoded { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), $0) }
    }

    /// The key alone, without its algorithm (RFC 5280's `subjectPublicKey`): PKCS #1 for RSA, the point for an elliptic
    /// curve.
    public var keyBytes: [UInt8] {
        der.withUnsafeBufferPointer { buffer in
            var place = buffer.baseAddress
            guard let info = d2i_X509_PUBKEY(nil, &place, buffer.count) else { return [] }
            defer { X509_PUBKEY_free(info) }
            var (bytes, count): (UnsafePointer<UInt8>?, Int32) = (nil, 0)
            guard X509_PUBKEY_get0_param(nil, &bytes, &count, nil, info) == 1 else { return [] }
            return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
    }

    /// The algorithm of a key.
    public enum Algorithm: Sendable { case rsa, ellipticCurve, other }

    /// The algorithm of the key, and its size in bits: of RSA's modulus, or of the curve's order.
    public var size: (algorithm: Algorithm, bits: Int) {
        der.withUnsafeBufferPointer { buffer in
            var place = buffer.baseAddress
            guard let key = d2i_PUBKEY(nil, &place, buffer.count) else { return (.other, 0) }
            defer { EVP_PKEY_free(key) }
            let algorithm: Algorithm =
                switch EVP_PKEY_get_base_id(key) {
                case EVP_PKEY_RSA: .rsa
                case EVP_PKEY_EC: .ellipticCurve
                default: .other
                }
            return (algorithm, Int(EVP_PKEY_get_bits(key)))
        }
    }

    /// The SHA-256 digest of the SubjectPublicKeyInfo; 32 bytes.
    public var spkiSHA256: [UInt8] { OpenSSLText.sha256(der) }

    /// The pin: `sha256/` and the digest in base64, as in curl's `--pinnedpubkey` and RFC 7469 (there with `//` and
    /// `=`).
    public var pin: String { "sha256/" + OpenSSLText.base64(spkiSHA256) }

    /// The pin.
    public var description: String { pin }

    public static func == (one: PublicKey, other: PublicKey) -> Bool { one.der == other.der }

    public func hash(into hasher: inout Hasher) { hasher.combine(der) }

    // MARK: Loading

    /// The extensions of key files, in lower case, including those of certificates, which contain keys too.
    public static let fileExtensions = Certificate.fileExtensions.union(["key", "pub"])

    /// Returns the public keys of a PEM text (`PUBLIC KEY` and certificates) or of DER bytes (a key or a certificate),
    /// without repetitions. Private keys are ignored.
    ///
    /// - Throws: `TransferError` where there is none, or a damaged one.
    public static func publicKeys(pemOrDER bytes: [UInt8]) throws(TransferError) -> [PublicKey] {
        var keys: [PublicKey] = []
        if CredentialFile.isPEM(bytes) {
            for block in try OpenSSLText.pemBlocks(bytes) where block.name == "PUBLIC KEY" {
                keys.append(try PublicKey(der: block.der))
            }
            if CredentialFile.contains(bytes, "CERTIFICATE-----") {
                keys += try Certificate.certificates(pemOrDER: bytes).map(\.publicKey)
            }
        } else if let certificate = try? Certificate(der: bytes) {
            keys = [certificate.publicKey]
        } else {
            keys = [try PublicKey(der: bytes)]
        }
        guard !keys.isEmpty else { throw TransferError(.invalidRequest, "there is no public key") }
        var seen: Set<PublicKey> = []
        return keys.filter { seen.insert($0).inserted }
    }

    /// Returns the public keys of a file, PEM or DER, or of its certificates.
    ///
    /// - Throws: `TransferError` with the file's name.
    public static func publicKeys(atPath path: String) throws(TransferError) -> [PublicKey] {
        let bytes = try CredentialFile.read(path)
        do { return try publicKeys(pemOrDER: bytes) } catch {
            throw TransferError(error.code, "\(path): \(error.message)", cause: error.cause)
        }
    }

    /// Returns the public keys of a folder's `.pem`, `.crt`, `.cer`, `.der`, `.key` and `.pub` files by file name,
    /// without repetitions. Private keys are ignored.
    ///
    /// - Throws: `TransferError` where the folder or a file cannot be read, or a file is damaged.
    public static func publicKeys(inFolder folder: String) throws(TransferError) -> [PublicKey] {
        var (seen, result): (Set<PublicKey>, [PublicKey]) = ([], [])
        for path in try CredentialFile.paths(inFolder: folder, extensions: fileExtensions) {
            let bytes = try CredentialFile.read(path)
            let keys: [PublicKey]
            do { keys = try publicKeys(pemOrDER: bytes) } catch {
                if CredentialFile.contains(bytes, "PRIVATE KEY-----") { continue }
                throw TransferError(error.code, "\(path): \(error.message)", cause: error.cause)
            }
            result += keys.filter { seen.insert($0).inserted }
        }
        return result
    }

    /// Returns whether the bytes are the DER of a public key or an unencrypted private key.
    static func isKey(_ bytes: [UInt8]) -> Bool {
        if (try? PublicKey(der: bytes)) != nil { return true }
        OpenSSLLibrary.clearErrors()
        let key = bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var place = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &place, buffer.count)
        }
        OpenSSLLibrary.clearErrors()
        guard let key else { return false }
        EVP_PKEY_free(key)
        return true
    }
}
