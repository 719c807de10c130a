/// A value that distinguishes the versions of a remote file (RFC 9110 §8.8).
public struct Validator: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The entity tag as sent by the server, including quotes and `W/`.
    public var etag: String?
    /// The Last-Modified date, as sent by the server.
    public var lastModified: String?
    /// Whether the date certainly differs between versions (RFC 9110 §8.8.2.2).
    public var isDateStrong: Bool

    /// Creates a validator.
    public init(etag: String? = nil, lastModified: String? = nil, isDateStrong: Bool = false) {
        self.etag = etag
        self.lastModified = lastModified
        self.isDateStrong = isDateStrong
    }

    /// Creates the validator of a response; `nil` where it has none.
    public init?(_ head: ResponseHead) {
        let field = head.singleValue("ETag")
        let etag = field.flatMap { Self.isEntityTag($0) ? $0 : nil }
        // A head with two different tags is contradictory about the version, so its date proves nothing either.
        let isContradictory = field == nil && head.value("ETag") != nil
        let lastModified = isContradictory ? nil : head.singleValue("Last-Modified")
        guard etag != nil || lastModified != nil else { return nil }
        var strong = false
        // The date is parsed only without a tag, because a tag is always preferred.
        if etag == nil, let modified = lastModified.flatMap({ HTTPDate.parse($0) }) {
            // Section 8.8.2.2 requires "enough difference" where the clocks may differ: here a minute, and an hour
            // where one of them is ours.
            if let date = head.value("Date").flatMap({ HTTPDate.parse($0) }) {
                strong = date - modified >= 60
            } else if let received = head.received {
                strong = received - modified >= 3600
            }
        }
        self.init(etag: etag, lastModified: lastModified, isDateStrong: strong)
    }

    /// Whether the tag guarantees equality byte by byte.
    public var hasStrongETag: Bool { etag.map { !$0.hasPrefix("W/") } ?? false }

    /// The value for If-Range; `nil` where nothing is strong enough for continuing (RFC 9110 §13.1.5).
    public var ifRange: String? {
        if let etag {
            // A weak tag also shows that the server does not guarantee the bytes, so its date is not used either.
            return hasStrongETag ? etag : nil
        }
        return isDateStrong ? lastModified : nil
    }

    /// Returns whether `other`, from a later response, can denote the same version; a value that only one has does not
    /// count.
    public func mayEqual(_ other: Validator) -> Bool {
        if let etag, let tag = other.etag { return etag == tag }
        if let lastModified, let date = other.lastModified { return lastModified == date }
        return true
    }

    /// Returns whether `other`, of the same resource, proves the same bytes. They have the same strong tag or, where
    /// neither has a tag, the same date, if this one is strong (RFC 9110 §8.8.2.2).
    public func isSame(as other: Validator) -> Bool {
        if etag != nil || other.etag != nil { return hasStrongETag && etag == other.etag }
        return isDateStrong && lastModified == other.lastModified
    }

    /// The entity tag, or else the date.
    public var description: String { etag ?? lastModified ?? "none" }

    private static func isEntityTag(_ text: String) -> Bool {
        let opaque = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
        return opaque.count >= 2 && opaque.first == "\"" && opaque.last == "\""
    }
}
