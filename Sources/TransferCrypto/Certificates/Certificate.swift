import CTransferOpenSSL
import Glibc
public import TransferCore

/// An X.509 certificate (RFC 5280). Two are equal when their bytes are.
///
/// `@unchecked Sendable`: it is never changed, and OpenSSL counts its references and fills its caches under locks.
public final class Certificate: @unchecked Sendable, Hashable {
    /// An `X509 *` that lives as long as this object. To be read off objects that a parameter or `withPointer` keeps:
    /// the optimiser may let others go as soon as it has been read.
    let pointer: OpaquePointer
    /// The whole certificate.
    public let der: [UInt8]

    /// - Throws: `TransferError` with `.invalidRequest` when the bytes are no certificate, or more than one.
    public init(der: [UInt8]) throws(TransferError) {
        OpenSSLLibrary.clearErrors()
        let parsed = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var place = buffer.baseAddress
            guard let certificate = d2i_X509(nil, &place, buffer.count) else { return nil }
            guard let place, let start = buffer.baseAddress, place - start == buffer.count else {
                X509_free(certificate)
                return nil
            }
            return certificate
        }
        guard let parsed else { throw OpenSSLText.failure(.invalidRequest, "the bytes are no certificate") }
        pointer = parsed
        self.der = der
    }

    /// - Parameter x509: An `X509 *`, of which this object holds a reference of its own.
    public init(retaining x509: OpaquePointer) {
        X509_up_ref(x509)
        pointer = x509
        der = OpenSSLText.encoded { i2d_X509(x509, $0) }
    }

    deinit { X509_free(pointer) }

    /// Calls `body` with the `X509 *`, which lives until the call is over.
    public func withPointer<Value, Failure: Error>(
        _ body: (OpaquePointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        defer { withExtendedLifetime(self) {} }
        return try body(pointer)
    }

    public static func == (one: Certificate, other: Certificate) -> Bool { one.der == other.der }

    public func hash(into hasher: inout Hasher) { hasher.combine(der) }

    /// The certificate's owner, as RFC 2253 writes names: `CN=example.org,O=Example`.
    public var subject: String { OpenSSLText.name(X509_get_subject_name(pointer)) }

    /// The signer, as RFC 2253 writes names.
    public var issuer: String { OpenSSLText.name(X509_get_issuer_name(pointer)) }

    /// The DNS names and IP addresses that it is for (RFC 5280 §4.2.1.6), in its order. Names that hold control
    /// characters are left out: no host has them.
    public var subjectNames: [String] {
        guard let names = transfer_x509_alternative_names(pointer) else { return [] }
        defer { transfer_names_free(names) }
        return (0..<transfer_names_count(names)).compactMap { index in
            var (type, length): (Int32, Int32) = (0, 0)
            guard let start = transfer_name_bytes(names, index, &type, &length) else { return nil }
            let bytes = UnsafeBufferPointer(start: start, count: Int(length))
            switch type {
            case GEN_DNS: return bytes.allSatisfy { $0 > 32 && $0 < 127 } ? String(decoding: bytes, as: UTF8.self) : nil
            case GEN_IPADD: return Self.address(bytes)
            default: return nil
            }
        }
    }

    /// The first second at which it is valid, since 1970.
    public var notBefore: Int64 { OpenSSLText.seconds(X509_get0_notBefore(pointer)) ?? .max }

    /// The last second at which it is valid, since 1970.
    public var notAfter: Int64 { OpenSSLText.seconds(X509_get0_notAfter(pointer)) ?? .min }

    /// Upper-case hexadecimal; unique among the certificates of one issuer.
    public var serialNumber: String { OpenSSLText.hexadecimal(X509_get0_serialNumber(pointer)) }

    public var publicKey: PublicKey { PublicKey(of: pointer) }

    /// Whether it is its own issuer and its own key made the signature.
    public var isSelfSigned: Bool { X509_self_signed(pointer, 1) == 1 }

    /// The SHA-256 digest of the DER; 32 bytes.
    public var sha256: [UInt8] { OpenSSLText.sha256(der) }

    private static func address(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        let family: Int32
        switch bytes.count {
        case 4: family = AF_INET
        case 16: family = AF_INET6
        default: return nil
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, bytes.baseAddress, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension Certificate: CustomStringConvertible {
    public var description: String { subject.isEmpty ? "certificate \(serialNumber)" : subject }
}
