public import Foundation
public import TransferCrypto

/// An evaluator that trusts a server whose chain contains a pinned certificate: its own, an intermediate's or the
/// root's.
///
/// A pin of a certificate ends when the certificate is renewed. A pin of ``PublicKeysTrustEvaluator`` remains valid as
/// long as the key stays.
public final class PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
    private let certificates: [SecCertificate]
    private let acceptSelfSignedCertificates: Bool
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - certificates: The pinned certificates, of which the chain must contain one. Without any, every server is
    ///     refused.
    ///   - acceptSelfSignedCertificates: Whether the pins replace the session's authorities for this host. A
    ///     self-signed certificate can thus be trusted.
    ///   - performDefaultValidation: Whether signatures, dates and the authority count. If they do not, pins still
    ///     match only certificates that signed the server's own, not others that it merely sent.
    ///   - validateHost: Whether the certificate must be valid for the host.
    public init(
        certificates: [SecCertificate] = Bundle.main.af.certificates, acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true, validateHost: Bool = true
    ) {
        self.certificates = certificates
        self.acceptSelfSignedCertificates = acceptSelfSignedCertificates
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    /// Evaluates the chain, the host and the pins.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` for a server that is not trusted.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        guard !certificates.isEmpty else { throw AFError.serverTrustEvaluationFailed(reason: .noCertificatesFound) }
        var chain = trust.signedChain
        if performDefaultValidation {
            chain = try trust.af.verifiedChain(
                forHost: host, onlyAnchors: acceptSelfSignedCertificates ? certificates : nil)
        }
        if validateHost { try trust.af.performValidation(forHost: host) }
        guard chain.contains(where: certificates.contains) else {
            throw AFError.serverTrustEvaluationFailed(
                reason: .certificatePinningFailed(
                    host: host, trust: trust, pinnedCertificates: certificates, serverCertificates: chain))
        }
    }
}

extension ServerTrustEvaluating where Self == PinnedCertificatesTrustEvaluator {
    /// An evaluator that pins the certificates of the program's bundle.
    public static var pinnedCertificates: PinnedCertificatesTrustEvaluator { PinnedCertificatesTrustEvaluator() }

    /// Returns an evaluator that pins certificates; the parameters are those of the initialiser.
    public static func pinnedCertificates(
        certificates: [SecCertificate] = Bundle.main.af.certificates, acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true, validateHost: Bool = true
    ) -> PinnedCertificatesTrustEvaluator {
        PinnedCertificatesTrustEvaluator(
            certificates: certificates, acceptSelfSignedCertificates: acceptSelfSignedCertificates,
            performDefaultValidation: performDefaultValidation, validateHost: validateHost)
    }
}
