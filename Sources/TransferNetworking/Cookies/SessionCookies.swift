import Foundation
import FoundationNetworking
import TransferEngine
import TransferEventLoop

/// The cookies of a session, as its exchanges use them.
final class SessionCookies: CookieJar {
    private let keeper: any CookieKeeping
    private let acceptPolicy: HTTPCookie.AcceptPolicy
    private let sendsCookies: Bool
    /// The document whose site alone may set cookies; `nil` where every site may.
    private let mainDocument: CookieOrigin?

    /// - Returns: `nil` where cookies are neither kept nor sent.
    convenience init?(_ settings: CookieSettings) {
        guard settings.sendsCookies || settings.acceptPolicy != .never else { return nil }
        switch settings.place {
        case .nowhere: return nil
        case .store(let store): self.init(store, settings, mainDocument: nil)
        case .storage(let storage): self.init(StorageCookies(storage), settings, mainDocument: nil)
        }
    }

    private init(_ keeper: any CookieKeeping, _ settings: CookieSettings, mainDocument: CookieOrigin?) {
        self.keeper = keeper
        acceptPolicy = settings.acceptPolicy
        sendsCookies = settings.sendsCookies
        self.mainDocument = mainDocument
    }

    /// Returns the jar for one request; `nil` if the request handles no cookies.
    func jar(for request: URLRequest, _ settings: CookieSettings) -> SessionCookies? {
        guard request.httpShouldHandleCookies else { return nil }
        guard acceptPolicy == .onlyFromMainDocumentDomain, let main = request.mainDocumentURL,
            let origin = CookieOrigin(main.absoluteString)
        else { return self }
        return SessionCookies(keeper, settings, mainDocument: origin)
    }

    var isEmpty: Bool { !sendsCookies || keeper.isEmpty }

    func field(for url: String) -> String? {
        guard !isEmpty, let origin = CookieOrigin(url) else { return nil }
        return StoredCookie.field(keeper.cookies(for: origin, now: WallClock.now))
    }

    func received(_ fields: [String], from url: String) {
        guard acceptPolicy != .never, let origin = CookieOrigin(url) else { return }
        if let mainDocument, !mainDocument.isSameSite(as: origin) { return }
        keeper.receive(fields, from: origin, now: WallClock.now)
    }
}

extension Session {
    /// Returns the cookies that a request of this session sends and sets.
    func cookieJar(for request: URLRequest) -> SessionCookies? {
        cookies?.jar(for: request, settings.cookies)
    }
}
