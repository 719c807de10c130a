import CTransferOpenSSL
import TransferCore

/// A client's certificate with its private key, for servers that request one.
///
/// `@unchecked Sendable`: the identity never changes, and OpenSSL counts references under locks.
public final class ClientIdentity: @unchecked Sendable, Hashable {
    /// The client's certificate.
    public let certificate: Certificate
    /// The intermediate authorities between the certificate and the one that the server trusts, in that order. They are
    /// sent with the certificate.
    public let chain: [Certificate]
    private let keyPointer: OpaquePointer

    /// Creates an identity, which takes over the ownership of the key.
    init(certificate: Certificate, others: [Certificate], key: OpaquePointer, source: String) throws(TransferError) {
        OpenSSLLibrary.clearErrors()
        guard X509_check_private_key(certificate.pointer, key) == 1 else {
            EVP_PKEY_free(key)
            OpenSSLLibrary.clearErrors()
            throw TransferError(.invalidRequest, "\(source): the key is not that of the certificate of \(certificate)")
        }
        self.certificate = certificate
        keyPointer = key
        chain = Self.ordered(others, after: certificate)
    }

    deinit { EVP_PKEY_free(keyPointer) }

    /// Calls `body` with the certificate's `X509 *` and the key's `EVP_PKEY *`, which live until the end of the call.
    ///
    /// - Throws: The error of `body`.
    public func withPointers<Value, Failure: Error>(
        _ body: (_ certificate: OpaquePointer, _ key: OpaquePointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        defer { withExtendedLifetime(self) {} }
        return try body(certificate.pointer, keyPointer)
    }

    public static func == (one: ClientIdentity, other: ClientIdentity) -> Bool {
        one.certificate == other.certificate && one.chain == other.chain
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(certificate) }

    /// Returns the certificates in the order in which each is followed by its issuer. Unrelated ones and the final
    /// authority are left out (RFC 8446 §4.4.2).
    private static func ordered(_ others: [Certificate], after certificate: Certificate) -> [Certificate] {
        var (left, chain, last) = (others.filter { $0 != certificate }, [Certificate](), certificate)
        while let index = left.firstIndex(where: { X509_check_issued($0.pointer, last.pointer) == X509_V_OK }) {
            last = left.remove(at: index)
            if last.isSelfSigned { break }
            chain.append(last)
        }
        OpenSSLLibrary.clearErrors()
        return chain
    }
}

extension ClientIdentity: CustomStringConvertible, CustomReflectable {
    /// The owner of the certificate, without any data of the key.
    public var description: String { "client certificate of \(certificate)" }

    /// The owner of the certificate, without any data of the key.
    public var customMirror: Mirror { Mirror(self, children: ["certificate": certificate.subject]) }
}
