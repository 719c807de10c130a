import Dispatch
import Foundation
import FoundationNetworking
import TransferCore
import TransferCrypto

/// The groups in which the settings are stored. The public properties have the documentation.
extension SessionSettings {
    /// The objects that decide about requests or observe them.
    struct Participants: Sendable {
        var interceptor: (any RequestInterceptor)?
        var redirectHandler: (any RedirectHandler)?
        var cachedResponseHandler: (any CachedResponseHandler)?
        var eventMonitors: [any EventMonitor] = [AlamofireNotifications()]
    }

    /// The trusted authorities and the session's own identities.
    struct Trust: Sendable {
        var serverTrustManager: ServerTrustManager?
        var authorities: String?
        var proxyAuthorities: String?
        var clientIdentity: ClientIdentity?
        var clientIdentities: [String: ClientIdentity] = [:]
        var credentialStorage: URLCredentialStorage?
    }

    /// The program's queues; `nil` creates one.
    struct Queues: Sendable {
        var rootQueue: DispatchQueue?
        var requestQueue: DispatchQueue?
        var serializationQueue: DispatchQueue?
    }

    /// The limits of times, counts and sizes.
    struct Limits: Sendable {
        var requestTimeout: TimeInterval = 60
        var resourceTimeout: TimeInterval = 7 * 24 * 3600
        var suspensionLimit: Duration? = .seconds(60)
        var maximumConnectionsPerHost: Int = 6
        var maxRedirects: Int = 20
        var maxDecodedLength: Int64? = 2 << 30
    }

    /// The route to servers.
    struct Route: Sendable {
        var proxies: ProxyRule = .none
        var unixSocket: String?
        var allowsCellularAccess: Bool = true
        var waitsForConnectivity: Bool = false
    }
}
