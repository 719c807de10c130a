public import TransferCore

/// The version of a file that is there whole, of which its server is asked whether it's still the newest.
///
/// A validator is the word of one resource (RFC 9110 §8.8.3): the same tag, or time, elsewhere says nothing of these bytes.
/// So only the resource that gave it is asked by it, whatever the redirects on the way, and only its 304 counts.
public struct HeldVersion: Sendable, Hashable {
    public var validator: Validator
    /// The resource; `nil` where nobody wrote it down: then it's that of the request's own URL.
    public var place: AnsweredPlace?

    public init(_ validator: Validator, of place: AnsweredPlace?) {
        self.validator = validator
        self.place = place
    }

    /// The condition that the resource is asked under; empty where there is none.
    public var fields: [HeaderField] {
        if let etag = validator.etag { return [HeaderField("If-None-Match", etag)] }
        return validator.lastModified.map { [HeaderField("If-Modified-Since", $0)] } ?? []
    }

    /// Whether the URL, without its fragment, is that of the resource, apart from a signature.
    ///
    /// - Parameter own: The request's own URL.
    public func isOf(_ url: String, own: String) -> Bool {
        guard let place else { return url == own }
        if url == own, place.url == Redaction.url(own) { return true }
        return place.isResource(of: url)
    }

    /// The hop with the condition, or without it.
    func asking(_ hop: Hop, own: String) -> Hop {
        let fields = fields
        let isAsked = isOf(hop.url, own: own)
        guard isAsked || hop.headers.contains(where: { field in fields.contains(field) }) else { return hop }
        var hop = hop
        hop.headers.removeAll { fields.contains($0) }
        if isAsked { hop.headers += fields }
        return hop
    }
}
