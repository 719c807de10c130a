import Glibc
public import TransferCrypto

/// Trusts a server whose certificates its authorities haven't taken back.
///
/// The chain is verified first, as only then it's known whose word counts. Then each certificate of it but the
/// authority at the end is looked up: in the answer that the server stapled, in lists that the program gave, in answers
/// kept from before, and by asking (OCSP, RFC 6960) or fetching (lists, RFC 5280 §5). Where nobody can tell, the
/// server is trusted, unless the options ask for a positive answer.
///
/// The evaluator blocks the thread it is called on while it asks, for at most ``RevocationSources/timeout``; the
/// handshake waits meanwhile, and nothing else.
public final class RevocationTrustEvaluator: ServerTrustEvaluating {
    /// By which ways to look, and how strictly.
    public struct Options: OptionSet, Sendable, Hashable {
        public let rawValue: UInt

        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// OCSP: stapled, or asked for.
        public static let ocsp = Options(rawValue: 1 << 0)
        /// Lists of revoked certificates.
        public static let crl = Options(rawValue: 1 << 1)
        /// Lists before OCSP.
        public static let preferCRL = Options(rawValue: 1 << 2)
        /// No certificate is trusted without somebody's word that it's good.
        public static let requirePositiveResponse = Options(rawValue: 1 << 3)
        /// Nothing is asked for or fetched; only what is there counts: stapled, given, kept.
        public static let networkAccessDisabled = Options(rawValue: 1 << 4)
        /// OCSP, then lists.
        public static let any: Options = [.ocsp, .crl]
    }

    private let performDefaultValidation: Bool
    private let validateHost: Bool
    private let options: Options
    private let sources: RevocationSources
    private let cache: RevocationCache
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - performDefaultValidation: Whether a chain that isn't good is reported as the default evaluator does. The
    ///     chain has to be good either way.
    ///   - validateHost: Whether the certificate must be for the host.
    ///   - options: By which ways to look; neither `ocsp` nor `crl` means both.
    ///   - sources: What is there already, and the bounds of what is fetched.
    public convenience init(
        performDefaultValidation: Bool = true, validateHost: Bool = true, options: Options = .any,
        sources: RevocationSources = RevocationSources()
    ) {
        self.init(
            performDefaultValidation: performDefaultValidation, validateHost: validateHost, options: options,
            sources: sources, cache: .shared, now: { Int64(time(nil)) })
    }

    init(
        performDefaultValidation: Bool = true, validateHost: Bool = true, options: Options = .any,
        sources: RevocationSources = RevocationSources(), cache: RevocationCache, now: @escaping @Sendable () -> Int64
    ) {
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
        self.options = options.isDisjoint(with: .any) ? options.union(.any) : options
        self.sources = sources
        self.cache = cache
        self.now = now
    }

    public func evaluate(_ trust: SecTrust, forHost host: String) throws {
        let chain = trust.evaluate(validatesHost: false)
        if performDefaultValidation, case .failure(let failure) = chain {
            throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: failure))
        }
        if validateHost { try trust.af.performValidation(forHost: host) }
        do throws(TrustFailure) {
            switch chain {
            case .success(let verified): try check(verified, stapled: trust.ocspResponse)
            case .failure(let failure): throw failure
            }
        } catch {
            throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: error))
        }
    }

    /// - Throws: Why the chain isn't taken.
    func check(_ chain: [SecCertificate], stapled: [UInt8]?) throws(TrustFailure) {
        let check = RevocationCheck(
            options: options, sources: sources, cache: cache, now: now(),
            deadline: ContinuousClock.now + sources.timeout)
        // A certificate that is trusted by itself has no issuer here whose word could count.
        guard chain.count > 1 else {
            guard !options.contains(.requirePositiveResponse) else {
                throw TrustFailure(.other, "nobody can say whether the certificate that is trusted itself is revoked")
            }
            return
        }
        for (index, (certificate, issuer)) in zip(chain, chain.dropFirst()).enumerated() {
            let finding = check.status(of: certificate, issuer: issuer, stapled: index == 0 ? stapled : nil)
            switch finding.status {
            case .good: continue
            case .revoked(let time, let reason):
                throw TrustFailure(revoked: certificate, at: time, reason: reason)
            case .unknown:
                // An intermediate that names no source can't be asked about by anybody; the server's own must be.
                guard options.contains(.requirePositiveResponse), index == 0 || finding.hasSources else { continue }
                let problems = finding.problems.isEmpty ? ["it names no source"] : finding.problems
                throw TrustFailure(
                    .other,
                    "whether the certificate of \(certificate) is revoked can't be found out: "
                        + problems.joined(separator: "; "))
            }
        }
    }
}

extension ServerTrustEvaluating where Self == RevocationTrustEvaluator {
    /// Looks whether certificates are revoked.
    public static var revocationChecking: RevocationTrustEvaluator { RevocationTrustEvaluator() }

    /// Looks whether certificates are revoked; the parameters are those of the initialiser.
    public static func revocationChecking(
        performDefaultValidation: Bool = true, validateHost: Bool = true,
        options: RevocationTrustEvaluator.Options = .any, sources: RevocationSources = RevocationSources()
    ) -> RevocationTrustEvaluator {
        RevocationTrustEvaluator(
            performDefaultValidation: performDefaultValidation, validateHost: validateHost, options: options,
            sources: sources)
    }
}
