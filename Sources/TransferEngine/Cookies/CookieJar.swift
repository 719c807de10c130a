/// Where the cookies of exchanges come from, and go to (RFC 6265). Called on the loops that carry exchanges, from several
/// at a time: it must be quick.
public protocol CookieJar: AnyObject, Sendable {
    /// Whether there is surely no cookie to be sent. Looked at for each request, so it should cost next to nothing.
    var isEmpty: Bool { get }

    /// The value of the Cookie field of a request for this URL; `nil` for none.
    func field(for url: String) -> String?

    /// An answer from this URL came with these Set-Cookie fields, in this order.
    func received(_ fields: [String], from url: String)
}
