package import TransferCore

/// The rules for requests to webhooks. They combine the configuration for the webhook's server with the job's own
/// timeouts, proxy and trust.
package struct WebhookRules: Sendable {
    private let configuration: Configuration
    /// The proxies and authorities that the configuration names anywhere. A job with one of them has it from the
    /// configuration, where it was meant for the job's own server.
    private let proxies: Set<String>
    private let authorities: Set<String>

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        let parts = configuration.files.flatMap { file in
            [file.root["defaults"] ?? .empty] + file.origins.map(\.rules)
        }
        let settings = parts.compactMap { try? Self.read($0).get() }
        proxies = Set(settings.compactMap { $0.proxy?.url })
        authorities = Set(settings.compactMap(\.tls.ca))
    }

    /// Returns the settings of the request.
    ///
    /// - Parameters:
    ///   - url: The webhook's URL; `nil` where it is not known yet.
    ///   - job: The part of a job's settings that ``HookRoute`` keeps.
    /// - Throws: `TransferError` for configuration files that contradict each other.
    package func settings(for url: String?, of job: JobSettings) throws(TransferError) -> JobSettings {
        guard !configuration.isEmpty else { return job }
        let sections = url.map { configuration.sections(for: [$0]) } ?? []
        let all = try Self.read(configuration.rules(of: sections)).mapError(Self.unusable).get()
        // Logins and trust belong to single servers: a password meant for all transfers must not reach the webhook's
        // server.
        let own = try Self.read(configuration.rules(of: sections, withDefaults: false)).mapError(Self.unusable).get()
        var result = HookRoute.settings(all, for: job.onFinish ?? .command(""), job: nil)
        (result.auth, result.headers, result.http.cookies) = (own.auth, own.headers, own.http.cookies)
        result.tls = own.tls
        result.tls.ca = all.tls.ca
        lay(job, over: &result)
        return result
    }

    private func lay(_ job: JobSettings, over result: inout JobSettings) {
        if let timeout = job.connectTimeout { result.connectTimeout = timeout }
        if let timeout = job.timeout { result.timeout = timeout }
        if let time = job.maxTime { result.maxTime = time }
        if job.retry != RetrySettings() { result.retry = job.retry }
        if let version = job.http.version { result.http.version = version }
        if let proxy = job.proxy, proxy.isOfEnvironment ? result.proxy == nil : !proxies.contains(proxy.url) {
            result.proxy = proxy
        }
        if let ca = job.tls.ca, !authorities.contains(ca) { result.tls.ca = ca }
        if job.tls.cert != nil, result.tls.cert == nil {
            (result.tls.cert, result.tls.key) = (job.tls.cert, job.tls.key)
            result.tls.keyPassphrase = job.tls.keyPassphrase
        }
        if !job.tls.pins.isEmpty, result.tls.pins.isEmpty { result.tls.pins = job.tls.pins }
        if job.tls.insecure { result.tls.insecure = true }
    }

    private struct Unusable: Error { let message: String }

    private static func unusable(_ error: Unusable) -> TransferError { TransferError(.invalidRequest, error.message) }

    private static func read(_ rules: ConfigurationValue) -> Result<JobSettings, Unusable> {
        var defaults = JobDefaults()
        if let fault = RequestRules.readConfiguration(rules, over: &defaults, .all) {
            return .failure(Unusable(message: fault))
        }
        return .success(defaults.settings)
    }
}
