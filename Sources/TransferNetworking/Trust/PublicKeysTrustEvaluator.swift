public import Foundation
public import TransferCrypto

/// An evaluator that trusts a server whose chain has a certificate with a pinned public key.
public final class PublicKeysTrustEvaluator: ServerTrustEvaluating {
    private let keys: [SecKey]
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - keys: The pinned keys, of which the chain must contain one. Without any, every server is refused.
    ///   - performDefaultValidation: Whether signatures, dates and the authority count. If they do not, pins still
    ///     match only certificates that signed the server's own, not others that it merely sent.
    ///   - validateHost: Whether the certificate must be valid for the host.
    public init(
        keys: [SecKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true, validateHost: Bool = true
    ) {
        self.keys = keys
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    /// Evaluates the chain, the host and the pins.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` for a server that is not trusted.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        guard !keys.isEmpty else { throw AFError.serverTrustEvaluationFailed(reason: .noPublicKeysFound) }
        let chain = performDefaultValidation ? try trust.af.verifiedChain(forHost: host) : trust.signedChain
        if validateHost { try trust.af.performValidation(forHost: host) }
        let serverKeys = chain.map(\.publicKey)
        guard serverKeys.contains(where: keys.contains) else {
            throw AFError.serverTrustEvaluationFailed(
                reason: .publicKeyPinningFailed(host: host, trust: trust, pinnedKeys: keys, serverKeys: serverKeys))
        }
    }
}

extension ServerTrustEvaluating where Self == PublicKeysTrustEvaluator {
    /// An evaluator that pins the public keys of the program's bundle.
    public static var publicKeys: PublicKeysTrustEvaluator { PublicKeysTrustEvaluator() }

    /// Returns an evaluator that pins public keys; the parameters are those of the initialiser.
    public static func publicKeys(
        keys: [SecKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true, validateHost: Bool = true
    ) -> PublicKeysTrustEvaluator {
        PublicKeysTrustEvaluator(
            keys: keys, performDefaultValidation: performDefaultValidation, validateHost: validateHost)
    }
}
