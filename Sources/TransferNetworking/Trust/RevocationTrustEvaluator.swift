import Glibc
public import TransferCrypto

/// An evaluator that trusts a server whose certificates are not revoked.
///
/// The chain is verified first, as it determines whose statements count. Then the status of each certificate but the
/// authority's is searched. The sources are the server's stapled response, the program's lists, cached responses, OCSP
/// requests (RFC 6960), and fetched lists (RFC 5280 §5). If no source knows the status, the server is trusted, unless
/// the options require a positive response.
///
/// The evaluator blocks its thread while it fetches, for at most ``RevocationSources/timeout``. Only the handshake
/// waits meanwhile.
public final class RevocationTrustEvaluator: ServerTrustEvaluating {
    /// The sources of the search, and its strictness.
    public struct Options: OptionSet, Sendable, Hashable {
        /// The bits of the options.
        public let rawValue: UInt

        /// Creates options from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The option to use OCSP: stapled responses, and requests.
        public static let ocsp = Options(rawValue: 1 << 0)
        /// The option to use lists of revoked certificates.
        public static let crl = Options(rawValue: 1 << 1)
        /// The option to use lists before OCSP.
        public static let preferCRL = Options(rawValue: 1 << 2)
        /// The option to trust a certificate only if a source states that it is good.
        public static let requirePositiveResponse = Options(rawValue: 1 << 3)
        /// The option to fetch nothing, and to use only stapled responses, the program's lists, and the cache.
        public static let networkAccessDisabled = Options(rawValue: 1 << 4)
        /// The option to use OCSP, then lists.
        public static let any: Options = [.ocsp, .crl]
    }

    private let performDefaultValidation: Bool
    private let validateHost: Bool
    private let options: Options
    private let sources: RevocationSources
    private let cache: RevocationCache
    private let now: @Sendable () -> Int64

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - performDefaultValidation: Whether an invalid chain is reported as the default evaluator does. The chain has
    ///     to be valid in both cases.
    ///   - validateHost: Whether the certificate must be valid for the host.
    ///   - options: The sources of the search; neither `ocsp` nor `crl` means both.
    ///   - sources: The program's own data, and the limits of fetches.
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

    /// Evaluates the chain, the host and the status of the certificates.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` for a server that is not trusted.
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

    /// Searches the status of each certificate.
    ///
    /// - Throws: The reason why the chain is refused.
    func check(_ chain: [SecCertificate], stapled: [UInt8]?) throws(TrustFailure) {
        let check = RevocationCheck(
            options: options, sources: sources, cache: cache, now: now(),
            deadline: ContinuousClock.now + sources.timeout)
        // A certificate that is itself trusted has no issuer in the chain that could state its status.
        guard chain.count > 1 else {
            guard !options.contains(.requirePositiveResponse) else {
                throw TrustFailure(
                    .other, "no issuer can state whether the certificate that is trusted itself is revoked")
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
                // An intermediate without sources has no status that can be found. The server's own certificate needs
                // one.
                guard options.contains(.requirePositiveResponse), index == 0 || finding.hasSources else { continue }
                let problems = finding.problems.isEmpty ? ["it names no source"] : finding.problems
                throw TrustFailure(
                    .other,
                    "whether the certificate of \(certificate) is revoked cannot be found out: "
                        + problems.joined(separator: "; "))
            }
        }
    }
}

extension ServerTrustEvaluating where Self == RevocationTrustEvaluator {
    /// An evaluator that checks whether certificates are revoked.
    public static var revocationChecking: RevocationTrustEvaluator { RevocationTrustEvaluator() }

    /// Returns an evaluator that checks whether certificates are revoked; the parameters are those of the initialiser.
    public static func revocationChecking(
        performDefaultValidation: Bool = true, validateHost: Bool = true,
        options: RevocationTrustEvaluator.Options = .any, sources: RevocationSources = RevocationSources()
    ) -> RevocationTrustEvaluator {
        RevocationTrustEvaluator(
            performDefaultValidation: performDefaultValidation, validateHost: validateHost, options: options,
            sources: sources)
    }
}
