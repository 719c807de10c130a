public import Foundation
public import TransferCrypto

extension ServerTrust: AlamofireExtended {}
extension Certificate: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == ServerTrust {
    /// The certificates as the server sent them, its own first.
    public var certificates: [SecCertificate] { type.certificates }

    /// The certificates in DER.
    public var certificateData: [Data] { type.certificates.af.data }

    /// The public keys of the certificates.
    public var publicKeys: [SecKey] { type.certificates.af.publicKeys }

    // MARK: Evaluating

    /// Evaluates the trust by the applied policies; without any, by the chain and the requested host.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `trustEvaluationFailed`, whose error is a `TrustFailure`.
    public func evaluate() throws {
        do { try judge() } catch {
            throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: error))
        }
    }

    /// Applies a policy, and evaluates the trust by it.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `trustEvaluationFailed`, whose error is a `TrustFailure`.
    public func evaluate(afterApplying policy: SecPolicy) throws { try apply(policy: policy).af.evaluate() }

    /// Replaces the policies of the trust by this one.
    ///
    /// - Throws: Nothing; a policy can always be applied on Linux.
    @discardableResult
    public func apply(policy: SecPolicy) throws -> SecTrust {
        type.adjustments.rules = [policy]
        return type
    }

    /// Makes these certificates the only authorities of the trust.
    ///
    /// - Throws: Nothing; any certificate can become an authority on Linux.
    public func setAnchorCertificates(_ certificates: [SecCertificate]) throws {
        type.adjustments.anchors = certificates
        type.adjustments.usesOnlyAnchors = true
    }

    /// Evaluates the trust by the applied policies.
    ///
    /// - Parameter errorProducer: A closure that makes the error from OpenSSL's code (0 for rules of other origin) and
    ///   the result.
    /// - Throws: The error of `errorProducer` for a trust that is refused.
    public func validate(errorProducer: (_ status: OSStatus, _ result: SecTrustResultType) -> any Error) throws {
        let (status, result) = outcome
        guard result.af.isSuccess else { throw errorProducer(status, result) }
    }

    /// Applies a policy, and evaluates the trust by it.
    ///
    /// - Parameters:
    ///   - policy: The policy, which replaces earlier ones.
    ///   - errorProducer: A closure that makes the error from OpenSSL's code (0 for rules of other origin) and the
    ///     result.
    /// - Throws: The error of `errorProducer` for a trust that is refused.
    public func validate(
        policy: SecPolicy, errorProducer: (_ status: OSStatus, _ result: SecTrustResultType) -> any Error
    ) throws { try apply(policy: policy).af.validate(errorProducer: errorProducer) }

    /// Evaluates the chain alone.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `trustEvaluationFailed`, whose error is a `TrustFailure`.
    public func performDefaultValidation(forHost host: String) throws { try verifiedChain(forHost: host) }

    /// Evaluates the host alone.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `trustEvaluationFailed`, whose error is a `TrustFailure`.
    public func performValidation(forHost host: String) throws {
        guard let failure = type.hostFailure(host) else { return }
        throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: failure))
    }

    /// Evaluates the trust by the applied policies.
    ///
    /// - Throws: A `TrustFailure`.
    func judge() throws {
        let rules: [any TrustRule] = type.adjustments.rules
        for rule in rules.isEmpty ? [TrustPolicy.host(type.host)] : rules { try rule.judge(type) }
    }

    /// The status and the result of an evaluation.
    var outcome: (status: OSStatus, result: SecTrustResultType) {
        do {
            try judge()
            return (errSecSuccess, .unspecified)
        } catch {
            let failure = error as? TrustFailure
            return (failure?.code ?? errSecSuccess, failure.map { SecTrustResultType($0) } ?? .otherError)
        }
    }

    /// Verifies the chain.
    ///
    /// - Parameter onlyAnchors: The only authorities to trust; `nil` trusts the session's.
    /// - Returns: The certificates from the server's own to the authority.
    @discardableResult
    func verifiedChain(forHost host: String, onlyAnchors: [SecCertificate]? = nil) throws -> [SecCertificate] {
        let result = type.evaluate(
            validatesHost: false, additionalAnchors: onlyAnchors ?? [], onlyAdditionalAnchors: onlyAnchors != nil)
        switch result {
        case .success(let chain): return chain
        case .failure(let failure):
            throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: failure))
        }
    }
}

extension ServerTrust {
    /// Returns the reason why the server's own certificate is not valid for the host; `nil` if it is valid.
    func hostFailure(_ host: String) -> TrustFailure? {
        guard let leaf = certificates.first else { return TrustFailure(.other, "the server showed no certificate") }
        return leaf.failure(forHost: host)
    }
}

extension AlamofireExtension where ExtendedType == Certificate {
    /// The certificate's key.
    public var publicKey: SecKey? { type.publicKey }
}

extension Array: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == [Certificate] {
    /// The certificates in DER.
    public var data: [Data] { type.map { Data($0.der) } }

    /// The public keys of the certificates.
    public var publicKeys: [SecKey] { type.map(\.publicKey) }
}
