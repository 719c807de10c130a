public import TransferCore

/// The version of a complete file, by which its server is asked whether it is still the newest.
///
/// A validator is a statement of one resource (RFC 9110 §8.8.3): elsewhere the same tag, or time, proves nothing about
/// these bytes. So only the resource that gave it is asked by it, after any redirects, and only its 304 counts.
public struct HeldVersion: Sendable, Hashable {
    /// The validator.
    public var validator: Validator
    /// The resource that gave the validator; `nil` where it is not recorded, which means the request's own URL.
    public var place: AnsweredPlace?

    /// Creates a version.
    public init(_ validator: Validator, of place: AnsweredPlace?) {
        self.validator = validator
        self.place = place
    }

    /// The condition for a request to the resource; empty where there is none.
    public var fields: [HeaderField] {
        if let etag = validator.etag { return [HeaderField("If-None-Match", etag)] }
        return validator.lastModified.map { [HeaderField("If-Modified-Since", $0)] } ?? []
    }

    /// Returns whether the URL, without its fragment, is that of the resource, apart from a signature.
    ///
    /// - Parameter own: The request's own URL.
    public func isOf(_ url: String, own: String) -> Bool {
        guard let place else { return url == own }
        if url == own, place.url == Redaction.url(own) { return true }
        return place.isResource(of: url)
    }

    /// Returns the hop with the condition, or without it.
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
