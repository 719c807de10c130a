import Foundation
public import FoundationNetworking

/// The handling of cookies by a session (RFC 6265).
public struct CookieSettings: Sendable {
    /// The place where cookies are kept.
    public enum Place: Sendable {
        /// Cookies are neither kept nor sent.
        case nowhere
        /// A store of this library, in memory.
        case store(CookieStore)
        /// A storage of Foundation. `HTTPCookieStorage.shared` writes into the home folder.
        case storage(HTTPCookieStorage)
    }

    /// The place where cookies are kept.
    public var place: Place
    /// The cookies that are accepted. `onlyFromMainDocumentDomain` refuses cookies of hosts outside the registered
    /// domain of the request's `mainDocumentURL`. Without such a URL each host counts as its own document.
    public var acceptPolicy: HTTPCookie.AcceptPolicy
    /// Whether requests carry cookies. `URLRequest.httpShouldHandleCookies` can switch off receiving and sending for
    /// one request.
    public var sendsCookies: Bool

    /// Creates settings; the defaults keep and send cookies in a new store of their own.
    public init(
        place: Place = .store(CookieStore()), acceptPolicy: HTTPCookie.AcceptPolicy = .onlyFromMainDocumentDomain,
        sendsCookies: Bool = true
    ) {
        self.place = place
        self.acceptPolicy = acceptPolicy
        self.sendsCookies = sendsCookies
    }

    /// Takes the settings of a configuration, with its storage if that one is in memory, as in an ephemeral
    /// configuration.
    ///
    /// Every default configuration has `HTTPCookieStorage.shared`, which writes into the home folder. A ``CookieStore``
    /// of the session's own replaces it; a program that wants the shared storage sets ``place`` to it.
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
