import Dispatch
import Foundation
import FoundationNetworking
import TransferCore
import TransferCrypto

/// The values that the settings are kept in; each has its documentation where programs see it.
extension SessionSettings {
    /// The objects that are asked about requests, or told of them.
    struct Participants: Sendable {
        var interceptor: (any RequestInterceptor)?
        var redirectHandler: (any RedirectHandler)?
        var cachedResponseHandler: (any CachedResponseHandler)?
        var eventMonitors: [any EventMonitor] = [AlamofireNotifications()]
    }

    /// Who is trusted, and who the session is.
    struct Trust: Sendable {
        var serverTrustManager: ServerTrustManager?
        var authorities: String?
        var proxyAuthorities: String?
        var clientIdentity: ClientIdentity?
        var clientIdentities: [String: ClientIdentity] = [:]
        var credentialStorage: URLCredentialStorage?
    }

    /// The queues that the program gives; `nil` makes one.
    struct Queues: Sendable {
        var rootQueue: DispatchQueue?
        var requestQueue: DispatchQueue?
        var serializationQueue: DispatchQueue?
    }

    /// How long and how much.
    struct Limits: Sendable {
        var requestTimeout: TimeInterval = 60
        var resourceTimeout: TimeInterval = 7 * 24 * 3600
        var suspensionLimit: Duration? = .seconds(60)
        var maximumConnectionsPerHost: Int = 6
        var maxRedirects: Int = 20
        var maxDecodedLength: Int64? = 2 << 30
    }

    /// The way to servers.
    struct Route: Sendable {
        var proxies: ProxyRule = .none
        var unixSocket: String?
        var allowsCellularAccess: Bool = true
        var waitsForConnectivity: Bool = false
    }
}
