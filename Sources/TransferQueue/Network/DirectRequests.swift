import TransferCore
package import TransferEngine
package import TransferJobs

/// The requests of downloads that are made at once, without a queue: their answers are wanted, whatever their statuses.
package struct DirectRequests: Sendable {
    private let builder: RequestBuilder

    /// Creates requests.
    ///
    /// - Parameter cookies: The cookies that all of the requests share; `nil` neither sends nor takes any.
    package init(userAgent: String, proxies: ProxyRule, secrets: SecretSource, cookies: JourneyCookies?) {
        var builder = RequestBuilder(userAgent: userAgent, proxies: proxies, secrets: secrets)
        builder.cookies = cookies
        self.builder = builder
    }

    /// Returns the request of a download from its first URL; `nil` for a job that is no download.
    package func request(_ spec: JobSpec) throws(TransferError) -> ExchangeRequest? {
        guard case .download(let download) = spec.work, let url = spec.urls.first else { return nil }
        return try builder.message(spec, download, url: url)
    }
}
