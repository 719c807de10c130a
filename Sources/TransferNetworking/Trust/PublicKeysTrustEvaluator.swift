public import Foundation
public import TransferCrypto

/// Trusts a server whose chain has a certificate with one of some public keys.
public final class PublicKeysTrustEvaluator: ServerTrustEvaluating {
    private let keys: [SecKey]
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// - Parameters:
    ///   - keys: Those of which the chain must have one. Without any every server is refused.
    ///   - performDefaultValidation: Whether signatures, dates and the authority count. Where they don't, keys are
    ///     only looked for among the certificates that did sign the server's, never among what it merely sent along.
    ///   - validateHost: Whether the certificate must be for the host.
    public init(
        keys: [SecKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true, validateHost: Bool = true
    ) {
        self.keys = keys
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

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
    /// Pins the public keys of the program's bundle.
    public static var publicKeys: PublicKeysTrustEvaluator { PublicKeysTrustEvaluator() }

    /// Pins public keys; the parameters are those of the initialiser.
    public static func publicKeys(
        keys: [SecKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true, validateHost: Bool = true
    ) -> PublicKeysTrustEvaluator {
        PublicKeysTrustEvaluator(
            keys: keys, performDefaultValidation: performDefaultValidation, validateHost: validateHost)
    }
}
