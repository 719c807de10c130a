public import Foundation
public import TransferCrypto

/// Trusts a server whose chain has one of some certificates: its own, an intermediate's or the root's.
///
/// Pins of certificates end when those are renewed; ``PublicKeysTrustEvaluator`` goes on while the key stays.
public final class PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
    private let certificates: [SecCertificate]
    private let acceptSelfSignedCertificates: Bool
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// - Parameters:
    ///   - certificates: Those of which the chain must have one. Without any every server is refused.
    ///   - acceptSelfSignedCertificates: Whether they are the only authorities for this host, in place of the
    ///     session's: so that a server's own certificate, which nobody else signed, can be trusted.
    ///   - performDefaultValidation: Whether signatures, dates and the authority count. Where they don't, pins are
    ///     only looked for among the certificates that did sign the server's, never among what it merely sent along.
    ///   - validateHost: Whether the certificate must be for the host.
    public init(
        certificates: [SecCertificate] = Bundle.main.af.certificates, acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true, validateHost: Bool = true
    ) {
        self.certificates = certificates
        self.acceptSelfSignedCertificates = acceptSelfSignedCertificates
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

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
    /// Pins the certificates of the program's bundle.
    public static var pinnedCertificates: PinnedCertificatesTrustEvaluator { PinnedCertificatesTrustEvaluator() }

    /// Pins certificates; the parameters are those of the initialiser.
    public static func pinnedCertificates(
        certificates: [SecCertificate] = Bundle.main.af.certificates, acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true, validateHost: Bool = true
    ) -> PinnedCertificatesTrustEvaluator {
        PinnedCertificatesTrustEvaluator(
            certificates: certificates, acceptSelfSignedCertificates: acceptSelfSignedCertificates,
            performDefaultValidation: performDefaultValidation, validateHost: validateHost)
    }
}
