/// A file as a correct server provides it, with the ranges, validators and conditional requests of RFC 9110.
public struct ServedFile: Sendable {
    /// The bytes of the file.
    public var content: Content
    /// The ETag with its quotes, and with `W/` before a weak one; `nil` sends none.
    public var etag: String?
    /// The modification time in seconds since 1970; `nil` sends none.
    public var lastModified: Int?
    /// The content type; `nil` sends none.
    public var contentType: String?
    /// Whether ranges are supported; `false` sends `Accept-Ranges: none` and ignores every Range.
    public var acceptsRanges: Bool
    /// Further header fields of every 200 and 206.
    public var headers: HeaderFields

    /// Creates a file; `lastModified` is in seconds since 1970.
    public init(
        _ content: Content, etag: String? = nil, lastModified: Int? = nil,
        contentType: String? = "application/octet-stream", acceptsRanges: Bool = true, headers: HeaderFields = [:]
    ) {
        self.content = content
        self.etag = etag
        self.lastModified = lastModified
        self.contentType = contentType
        self.acceptsRanges = acceptsRanges
        self.headers = headers
    }

    func gzipped() -> ServedFile {
        var file = self
        file.content = .bytes(Gzip.stored(content.bytes()))
        file.headers["Content-Encoding"] = "gzip"
        return file
    }

    func answer(to request: RequestHead) -> ResponsePlan {
        var fields = HeaderFields()
        if let etag { fields["ETag"] = etag }
        if let lastModified { fields["Last-Modified"] = HTTPDate.string(lastModified) }
        if let refused = precondition(request) { return ResponsePlan(status: refused, headers: fields) }

        fields["Accept-Ranges"] = acceptsRanges ? "bytes" : "none"
        if let contentType { fields["Content-Type"] = contentType }
        fields = fields.overridden(by: headers)
        var plan = ResponsePlan(status: 200, headers: fields, body: [.slice(content, 0..<content.count)])
        guard acceptsRanges, request.method == "GET", let text = request.range, ifRangeHolds(request) else {
            return plan
        }
        switch ByteRange.parse(text, total: content.count) {
        case .whole: break
        case .part(let range):
            plan.status = 206
            plan.body = [.slice(content, range)]
            plan.contentRange = ContentRange(range: range, total: content.count)
        case .unsatisfiable:
            plan = .unsatisfiable(total: content.count)
        }
        return plan
    }

    /// Returns the status of a failed precondition, checked in the order of RFC 9110, section 13.2.2.
    private func precondition(_ request: RequestHead) -> Int? {
        let headers = request.headers
        if let wanted = headers["If-Match"] {
            if !matches(wanted, strongly: true) { return 412 }
        } else if let date = headers["If-Unmodified-Since"].flatMap(HTTPDate.seconds), let lastModified,
            lastModified > date
        {
            return 412
        }
        let isRead = request.method == "GET" || request.method == "HEAD"
        if let known = headers["If-None-Match"] {
            return matches(known, strongly: false) ? (isRead ? 304 : 412) : nil
        }
        if isRead, let date = headers["If-Modified-Since"].flatMap(HTTPDate.seconds), let lastModified {
            return lastModified <= date ? 304 : nil
        }
        return nil
    }

    private func matches(_ list: String, strongly: Bool) -> Bool {
        if list == "*" { return true }
        guard let etag, !(strongly && etag.hasPrefix("W/")) else { return false }
        let opaque = { (tag: String) in tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag }
        return list.split(separator: ",").map(\.trimmingSpaces).contains { tag in
            strongly ? tag == etag : opaque(tag) == opaque(etag)
        }
    }

    /// Returns whether If-Range holds: only for a strong validator that equals the current one exactly (RFC 9110,
    /// section 13.1.5).
    private func ifRangeHolds(_ request: RequestHead) -> Bool {
        guard let validator = request.ifRange else { return true }
        if validator.hasPrefix("\"") { return validator == etag }
        guard let date = HTTPDate.seconds(validator), let lastModified else { return false }
        return date == lastModified
    }
}

enum ByteRange {
    case whole
    case part(Range<Int64>)
    case unsatisfiable

    /// Parses a Range. Several ranges are answered with the whole file, as RFC 9110, section 14.2 allows.
    static func parse(_ text: String, total: Int64) -> ByteRange {
        guard text.hasPrefix("bytes="), !text.contains(",") else { return .whole }
        let bounds = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard bounds.count == 2 else { return .whole }
        switch (Int64(bounds[0]), Int64(bounds[1])) {
        case (let first?, let last):
            guard last != nil || bounds[1].isEmpty, last ?? first >= first else { return .whole }
            return first < total ? .part(first..<min(last ?? total - 1, total - 1) + 1) : .unsatisfiable
        case (nil, let suffix?) where bounds[0].isEmpty:
            return suffix > 0 && total > 0 ? .part(max(0, total - suffix)..<total) : .unsatisfiable
        default:
            return .whole
        }
    }
}
