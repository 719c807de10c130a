import CTransferOpenSSL
public import TransferCore

/// The computation of a digest with OpenSSL's EVP (EVP_DigestInit(3)). It must not be used by several threads at once.
public final class Digest {
    /// The algorithm of the digest.
    public let algorithm: DigestAlgorithm
    private let context: OpaquePointer

    /// Begins a computation.
    ///
    /// - Throws: `TransferError` where OpenSSL lacks the algorithm (MD5 under a FIPS provider) or memory.
    public init(_ algorithm: DigestAlgorithm) throws {
        self.algorithm = algorithm
        guard OpenSSLLibrary.isReady, let context = EVP_MD_CTX_new() else { throw Self.failure(algorithm) }
        self.context = context
        guard EVP_DigestInit_ex(context, Self.method(algorithm), nil) == 1 else { throw Self.failure(algorithm) }
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes to the digest.
    public func update(_ bytes: UnsafeRawBufferPointer) {
        // The call fails only for an uninitialized context.
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// Ends the computation and returns the digest. The object cannot be used afterwards.
    ///
    /// - Throws: `TransferError` where OpenSSL fails.
    public func finish() throws -> Checksum {
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_DigestFinal_ex(context, &bytes, &count) == 1,
            let checksum = Checksum(algorithm, bytes: bytes.prefix(Int(count)))
        else { throw Self.failure(algorithm) }
        return checksum
    }

    private static func failure(_ algorithm: DigestAlgorithm) -> TransferError {
        let code = ERR_get_error()
        let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "unknown error"
        return TransferError(
            .internalFault, "OpenSSL cannot compute \(algorithm.rawValue): \(text)", cause: .openSSL(text))
    }

    static func method(_ algorithm: DigestAlgorithm) -> OpaquePointer? {
        switch algorithm {
        case .sha256: EVP_sha256()
        case .sha512: EVP_sha512()
        case .sha1: EVP_sha1()
        case .md5: EVP_md5()
        }
    }
}

/// The version of OpenSSL in use.
public enum CryptoVersion {
    /// The version in OpenSSL's words.
    public static var openSSL: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }
}
