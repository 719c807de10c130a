import CTransferOpenSSL
public import TransferCore

/// The result of evaluating a server's certificates.
public enum TrustResult: Sendable, Hashable {
    /// The certificates are accepted. The value is the chain from the server's to the anchor, or the chain as sent
    /// where it was not to be checked.
    case success([Certificate])
    /// The certificates are refused.
    case failure(TrustFailure)

    /// Returns the chain.
    ///
    /// - Throws: The failure as a `TransferError`.
    @discardableResult
    public func get() throws(TransferError) -> [Certificate] {
        switch self {
        case .success(let chain): return chain
        case .failure(let failure): throw TransferError(failure)
        }
    }
}

/// The reason why a server's certificates were refused.
public struct TrustFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a failure.
    public enum Kind: Sendable, Hashable {
        /// A certificate of the chain has expired.
        case expired
        /// A certificate of the chain is not valid yet.
        case notYetValid
        /// The certificate is for other names.
        case wrongHost
        /// No trusted authority signed the chain, or an intermediate certificate is missing.
        case unknownAuthority
        /// The server's certificate is self-signed, and not among the trusted ones.
        case selfSigned
        /// The authority revoked the certificate.
        case revoked
        /// A signature is wrong.
        case badSignature
        /// The failure is of another kind, which the code identifies.
        case other
    }

    /// The kind of the failure.
    public let kind: Kind
    /// An `X509_V_ERR_` code of OpenSSL (X509_STORE_CTX_get_error(3)); 0 where the rule is not OpenSSL's.
    public let code: Int32
    /// A sentence without a period, which names the certificate, and dates in UTC where they matter.
    public let description: String

    /// Creates a failure; the description has no period.
    public init(_ kind: Kind, code: Int32 = 0, _ description: String) {
        self.kind = kind
        self.code = code
        self.description = description
    }

    /// OpenSSL's words for the code.
    var reason: String { String(cString: X509_verify_cert_error_string(Int(code))) }
}

extension TransferError {
    /// Creates the error for refused certificates.
    public init(_ failure: TrustFailure) {
        self.init(
            .certificateRefused, failure.description,
            cause: failure.code == 0 ? nil : .certificate(failure.code))
    }
}

extension TrustFailure {
    /// Creates a failure from an OpenSSL code.
    ///
    /// - Parameter certificate: The certificate that OpenSSL was checking.
    init(code: Int32, certificate: Certificate?, host: String) {
        let subject = certificate.map { "the certificate of \($0)" } ?? "the server's certificate"
        let text = String(cString: X509_verify_cert_error_string(Int(code)))
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            self.init(.expired, code: code, "\(subject) expired on \(Self.date(certificate?.notAfter))")
        case X509_V_ERR_CERT_NOT_YET_VALID:
            self.init(.notYetValid, code: code, "\(subject) is not valid before \(Self.date(certificate?.notBefore))")
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            let names = certificate?.subjectNames ?? []
            let list =
                names.isEmpty ? "no name" : names.prefix(8).joined(separator: ", ") + (names.count > 8 ? ", …" : "")
            self.init(.wrongHost, code: code, "\(subject) is for \(list), not for \(host)")
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            self.init(.selfSigned, code: code, "\(subject) signed itself and is not among the trusted ones")
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            self.init(.unknownAuthority, code: code, "the authority \(certificate?.subject ?? "") is not trusted")
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED:
            let issuer = certificate.map { ", which \($0.issuer) issued," } ?? ""
            self.init(
                .unknownAuthority, code: code,
                "\(subject)\(issuer) leads to no trusted authority, or a certificate between is missing")
        case X509_V_ERR_CERT_REVOKED:
            self.init(.revoked, code: code, "\(subject) is revoked")
        case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE,
            X509_V_ERR_CA_MD_TOO_WEAK:
            self.init(.badSignature, code: code, "the signature of \(subject) is no good: \(text)")
        default:
            self.init(.other, code: code, "\(subject) is refused: \(text)")
        }
    }

    static func date(_ seconds: Int64?) -> String {
        guard let seconds, seconds != .min, seconds != .max else { return "an unreadable date" }
        return UTCDate.text(seconds)
    }
}
