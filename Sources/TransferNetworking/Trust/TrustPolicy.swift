public import TransferCrypto

/// A rule for the evaluation of a trust, for evaluators of the program.
public enum TrustPolicy: TrustRule, Hashable {
    /// The chain has to lead to a trusted authority, for the purpose of a TLS server.
    case chain
    /// The chain has to be valid, and the certificate valid for the host.
    case host(String)
    /// The chain has to be valid, and its certificates not revoked.
    case revocation(RevocationTrustEvaluator.Options)
}

extension TrustPolicy {
    /// Evaluates a trust by this rule.
    ///
    /// - Throws: A `TrustFailure`.
    public func judge(_ trust: ServerTrust) throws {
        switch self {
        case .chain: _ = try verified(trust)
        case .host(let host):
            _ = try verified(trust)
            if let failure = trust.hostFailure(host) { throw failure }
        case .revocation(let options):
            let evaluator = RevocationTrustEvaluator(
                performDefaultValidation: false, validateHost: false, options: options)
            try evaluator.check(try verified(trust), stapled: trust.ocspResponse)
        }
    }

    private func verified(_ trust: ServerTrust) throws(TrustFailure) -> [SecCertificate] {
        switch trust.evaluate(validatesHost: false) {
        case .success(let chain): return chain
        case .failure(let failure): throw failure
        }
    }
}

extension TrustPolicy: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == TrustPolicy {
    /// The policy for the chain to a trusted authority, for the purpose of a TLS server.
    public static var `default`: SecPolicy { .chain }

    /// Returns the policy for the chain and the host.
    public static func hostname(_ hostname: String) -> SecPolicy { .host(hostname) }

    /// Returns the policy for the chain and the revocation of its certificates.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `revocationPolicyCreationFailed` when the options name
    ///   neither OCSP nor lists.
    public static func revocation(options: RevocationTrustEvaluator.Options) throws -> SecPolicy {
        guard !options.isDisjoint(with: .any) else {
            throw AFError.serverTrustEvaluationFailed(reason: .revocationPolicyCreationFailed)
        }
        return .revocation(options)
    }
}
