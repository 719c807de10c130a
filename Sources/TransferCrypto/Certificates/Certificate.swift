import CTransferOpenSSL
import Glibc
public import TransferCore

/// An X.509 certificate (RFC 5280). Two certificates are equal when their bytes are.
///
/// `@unchecked Sendable`: the certificate never changes, and OpenSSL counts its references and fills its caches under
/// locks.
public final class Certificate: @unchecked Sendable, Hashable {
    /// The `X509 *`, which lives as long as this object. It must be read from objects that a parameter or `withPointer`
    /// retains: the optimizer may release others as soon as it has been read.
    let pointer: OpaquePointer
    /// The bytes of the whole certificate.
    public let der: [UInt8]

    /// Creates a certificate from its bytes.
    ///
    /// - Throws: `TransferError` with `.invalidRequest` where the bytes are no certificate, or more than one.
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

    /// Creates a certificate from an OpenSSL object.
    ///
    /// - Parameter x509: An `X509 *`, to which this object adds a reference of its own.
    public init(retaining x509: OpaquePointer) {
        X509_up_ref(x509)
        pointer = x509
        der = OpenSSLText.encoded { i2d_X509(x509, $0) }
    }

    deinit { X509_free(pointer) }

    /// Calls `body` with the `X509 *`, which lives until the end of the call.
    ///
    /// - Throws: The error of `body`.
    public func withPointer<Value, Failure: Error>(
        _ body: (OpaquePointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        defer { withExtendedLifetime(self) {} }
        return try body(pointer)
    }

    public static func == (one: Certificate, other: Certificate) -> Bool { one.der == other.der }

    public func hash(into hasher: inout Hasher) { hasher.combine(der) }

    /// The certificate's owner in the form of RFC 2253: `CN=example.org,O=Example`.
    public var subject: String { OpenSSLText.name(X509_get_subject_name(pointer)) }

    /// The signer in the form of RFC 2253.
    public var issuer: String { OpenSSLText.name(X509_get_issuer_name(pointer)) }

    /// The DNS names and IP addresses of the certificate (RFC 5280 §4.2.1.6), in its order. Names with control
    /// characters are left out, since no host has them.
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

    /// The first second of the validity, since 1970.
    public var notBefore: Int64 { OpenSSLText.seconds(X509_get0_notBefore(pointer)) ?? .max }

    /// The last second of the validity, since 1970.
    public var notAfter: Int64 { OpenSSLText.seconds(X509_get0_notAfter(pointer)) ?? .min }

    /// The serial number in upper-case hexadecimal digits, unique among the certificates of one issuer.
    public var serialNumber: String { OpenSSLText.hexadecimal(X509_get0_serialNumber(pointer)) }

    /// The public key of the certificate.
    public var publicKey: PublicKey { PublicKey(of: pointer) }

    /// Whether the certificate is its own issuer and signed with its own key.
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
    /// The owner, or else the serial number.
    public var description: String { subject.isEmpty ? "certificate \(serialNumber)" : subject }
}
