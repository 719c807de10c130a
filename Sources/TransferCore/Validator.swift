/// A value that tells one version of a remote file from the next (RFC 9110 §8.8).
public struct Validator: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The entity tag as the server wrote it, quotes and `W/` included.
    public var etag: String?
    /// The Last-Modified date, as the server wrote it.
    public var lastModified: String?
    /// Whether the date can be trusted to differ between versions (RFC 9110 §8.8.2.2).
    public var isDateStrong: Bool

    public init(etag: String? = nil, lastModified: String? = nil, isDateStrong: Bool = false) {
        self.etag = etag
        self.lastModified = lastModified
        self.isDateStrong = isDateStrong
    }

    /// Reads the validators of an answer; `nil` when it has none.
    public init?(_ head: ResponseHead) {
        let field = head.singleValue("ETag")
        let etag = field.flatMap { Self.isEntityTag($0) ? $0 : nil }
        // A head with two different tags contradicts itself about the version. Its date proves nothing either.
        let isContradictory = field == nil && head.value("ETag") != nil
        let lastModified = isContradictory ? nil : head.singleValue("Last-Modified")
        guard etag != nil || lastModified != nil else { return nil }
        var strong = false
        // Beside a tag the date is never asked for, and reading dates takes its time.
        if etag == nil, let modified = lastModified.flatMap({ HTTPDate.parse($0) }) {
            // §8.8.2.2 wants "enough difference" where the clocks may not be the same: a minute, and an hour where one of
            // them is ours.
            if let date = head.value("Date").flatMap({ HTTPDate.parse($0) }) {
                strong = date - modified >= 60
            } else if let received = head.received {
                strong = received - modified >= 3600
            }
        }
        self.init(etag: etag, lastModified: lastModified, isDateStrong: strong)
    }

    /// Whether the tag promises equality byte by byte.
    public var hasStrongETag: Bool { etag.map { !$0.hasPrefix("W/") } ?? false }

    /// The value for If-Range, or `nil` when nothing here is strong enough to continue by (RFC 9110 §13.1.5).
    public var ifRange: String? {
        if let etag {
            // A weak tag also says that the server itself doesn't vouch for the bytes: then its date isn't used either.
            return hasStrongETag ? etag : nil
        }
        return isDateStrong ? lastModified : nil
    }

    /// Whether `other`, of a later answer, can be the same version; what one of them lacks doesn't count.
    public func mayEqual(_ other: Validator) -> Bool {
        if let etag, let tag = other.etag { return etag == tag }
        if let lastModified, let date = other.lastModified { return lastModified == date }
        return true
    }

    /// Whether `other`, of the same resource, proves the same bytes: the same strong tag or, where neither has a tag, the
    /// same date, if this one is strong (RFC 9110 §8.8.2.2).
    public func isSame(as other: Validator) -> Bool {
        if etag != nil || other.etag != nil { return hasStrongETag && etag == other.etag }
        return isDateStrong && lastModified == other.lastModified
    }

    public var description: String { etag ?? lastModified ?? "none" }

    private static func isEntityTag(_ text: String) -> Bool {
        let opaque = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
        return opaque.count >= 2 && opaque.first == "\"" && opaque.last == "\""
    }
}
