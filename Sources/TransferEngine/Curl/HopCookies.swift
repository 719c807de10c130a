import CTransferCurl
import TransferCore

/// The cookies of hops. Every hop has its own cookies, among them those of the redirecting answer before it, and of its
/// challenge.
enum HopCookies {
    /// Returns the jar's cookies for a hop. A Cookie field of the program's own is sent unchanged, and no cookie is
    /// added.
    static func field(for hop: Hop, _ request: ExchangeRequest) -> String? {
        guard let jar = request.cookies, !jar.isEmpty, hop.headers.value("Cookie") == nil,
            let field = jar.field(for: hop.url), !field.isEmpty,
            // A line break would end the field and begin another.
            !field.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { return nil }
        return field
    }

    /// Stores the cookies of an answer. A 407 is the proxy's answer and sets no cookies for the host.
    static func received(_ head: ResponseHead, _ exchange: ActiveExchange) {
        guard let jar = exchange.request.cookies, head.status != 407, head.value("Set-Cookie") != nil,
            let hop = exchange.hop
        else { return }
        jar.received(head.fields.filter { $0.isNamed("Set-Cookie") }.map(\.value), from: hop.url)
        // libcurl answers a challenge automatically, with the options that its handle has then.
        guard head.status == 401, let handle = exchange.handle else { return }
        _ = try? handle.set(cookie: field(for: hop, exchange.request))
    }
}
