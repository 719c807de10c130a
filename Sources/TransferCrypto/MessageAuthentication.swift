import CTransferOpenSSL
public import TransferCore

/// Authentication codes, which require knowledge of the key.
public enum MessageAuthentication {
    /// Returns the HMAC (RFC 2104) with SHA-256: 32 bytes.
    ///
    /// - Throws: `TransferError` with `.internalFault` where OpenSSL has no memory.
    public static func sha256(_ message: [UInt8], key: [UInt8]) throws(TransferError) -> [UInt8] {
        try code(of: message, key, .sha256)
    }

    /// Returns the HMAC with SHA-1: 20 bytes. Files of known SSH hosts use it to hide names; no new use is allowed.
    ///
    /// - Throws: `TransferError` with `.internalFault` where OpenSSL has no memory, or no SHA-1 under a FIPS provider.
    public static func sha1(_ message: [UInt8], key: [UInt8]) throws(TransferError) -> [UInt8] {
        try code(of: message, key, .sha1)
    }

    private static func code(
        of message: [UInt8], _ key: [UInt8], _ algorithm: DigestAlgorithm
    ) throws(TransferError) -> [UInt8] {
        OpenSSLLibrary.clearErrors()
        var code = [UInt8](repeating: 0, count: algorithm.byteCount)
        var count: UInt32 = 0
        let method = Digest.method(algorithm)
        guard HMAC(method, key, Int32(clamping: key.count), message, message.count, &code, &count) != nil else {
            throw OpenSSLText.failure(.internalFault, "OpenSSL cannot compute HMAC with \(algorithm.rawValue)")
        }
        return code
    }
}

extension Digest {
    /// Returns the digest of bytes in memory.
    ///
    /// - Throws: `TransferError` with `.internalFault` where OpenSSL lacks the algorithm (MD5 under a FIPS provider).
    public static func of(_ bytes: [UInt8], _ algorithm: DigestAlgorithm = .sha256) throws(TransferError) -> Checksum {
        OpenSSLLibrary.clearErrors()
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_Digest(bytes, bytes.count, &digest, &count, method(algorithm), nil) == 1,
            let checksum = Checksum(algorithm, bytes: digest.prefix(Int(count)))
        else { throw OpenSSLText.failure(.internalFault, "OpenSSL cannot compute \(algorithm.rawValue)") }
        return checksum
    }
}
