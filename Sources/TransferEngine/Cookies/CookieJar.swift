/// A store that gives cookies to exchanges and takes those of their answers (RFC 6265).
///
/// The loops that carry exchanges call it, several at a time: it must be quick.
public protocol CookieJar: AnyObject, Sendable {
    /// Whether there is certainly no cookie to send. Each request reads the property, so it should cost next to
    /// nothing.
    var isEmpty: Bool { get }

    /// Returns the value of the Cookie field of a request for this URL, or `nil` if there is no cookie for it.
    func field(for url: String) -> String?

    /// Takes the Set-Cookie fields of an answer from this URL, in the order of the answer.
    func received(_ fields: [String], from url: String)
}
