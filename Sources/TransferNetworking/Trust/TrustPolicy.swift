public import TransferCrypto

/// A rule by which a trust is judged, for evaluators of the program's own.
public enum TrustPolicy: TrustRule, Hashable {
    /// The chain up to a trusted authority, for the purpose of a TLS server.
    case chain
    /// The chain, and the host.
    case host(String)
    /// The chain, and whether certificates of it are revoked.
    case revocation(RevocationTrustEvaluator.Options)
}

extension TrustPolicy {
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
    /// The chain up to a trusted authority, for the purpose of a TLS server.
    public static var `default`: SecPolicy { .chain }

    /// The chain, and the host.
    public static func hostname(_ hostname: String) -> SecPolicy { .host(hostname) }

    /// The chain, and whether certificates of it are revoked.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `revocationPolicyCreationFailed` when the options name no
    ///   way to find out.
    public static func revocation(options: RevocationTrustEvaluator.Options) throws -> SecPolicy {
        guard !options.isDisjoint(with: .any) else {
            throw AFError.serverTrustEvaluationFailed(reason: .revocationPolicyCreationFailed)
        }
        return .revocation(options)
    }
}
