import Foundation
public import FoundationNetworking

/// The handling of cookies by a session (RFC 6265).
public struct CookieSettings: Sendable {
    /// The place where cookies are kept.
    public enum Place: Sendable {
        /// None are kept, and none are sent.
        case nowhere
        case store(CookieStore)
        /// A storage of Foundation's. `HTTPCookieStorage.shared` writes into the home folder.
        case storage(HTTPCookieStorage)
    }

    public var place: Place
    /// The cookies that are taken. `onlyFromMainDocumentDomain` refuses those of hosts that aren't of the registered
    /// domain of the request's `mainDocumentURL`; without such a URL each host is its own.
    public var acceptPolicy: HTTPCookie.AcceptPolicy
    /// Whether requests carry them; `URLRequest.httpShouldHandleCookies` can switch off both for one request.
    public var sendsCookies: Bool

    public init(
        place: Place = .store(CookieStore()), acceptPolicy: HTTPCookie.AcceptPolicy = .onlyFromMainDocumentDomain,
        sendsCookies: Bool = true
    ) {
        self.place = place
        self.acceptPolicy = acceptPolicy
        self.sendsCookies = sendsCookies
    }

    /// Takes the settings of a configuration. Its storage is used where it's one in memory, as that of an ephemeral
    /// configuration is. For `HTTPCookieStorage.shared`, which every default configuration has and which writes into
    /// the home folder, a ``CookieStore`` of the session's own stands in; a program that wants the shared one sets
    /// ``place`` to it.
    public init(_ configuration: URLSessionConfiguration) {
        acceptPolicy = configuration.httpCookieAcceptPolicy
        sendsCookies = configuration.httpShouldSetCookies
        if let storage = configuration.httpCookieStorage {
            place = storage === HTTPCookieStorage.shared ? .store(CookieStore()) : .storage(storage)
        } else {
            place = .nowhere
        }
    }
}
