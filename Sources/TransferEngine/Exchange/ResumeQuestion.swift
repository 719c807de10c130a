import TransferCore

/// A question to a server about existing bytes.
enum ResumeQuestion: Equatable {
    /// The bytes that follow are requested.
    ///
    /// - Parameter isConditional: Whether If-Range is used (RFC 9110 §13.1.5). Without it the answer's own validator,
    ///   or a digest of the whole, must show that it fits.
    case rest(isConditional: Bool)
    /// All bytes exist: the last one is requested once more.
    ///
    /// A range that begins behind it would be answered by 416, which servers also use for another version of that
    /// length.
    case lastByte(isConditional: Bool)
    /// All bytes exist, of a version that cannot be continued: the server is asked whether it is still current
    /// (§13.1.2, §13.1.3).
    case validation
    /// The whole file is requested.
    case whole

    /// The same question without its condition, where it has one.
    var unconditional: ResumeQuestion? {
        switch self {
        case .rest(true): .rest(isConditional: false)
        case .lastByte(true): .lastByte(isConditional: false)
        case .rest, .lastByte, .validation, .whole: nil
        }
    }

    var isRange: Bool {
        switch self {
        case .rest, .lastByte: true
        case .validation, .whole: false
        }
    }

    private var isRest: Bool {
        if case .rest = self { return true }
        return false
    }

    /// Returns the first byte that is requested.
    func start(_ point: ResumePoint) -> Int64 {
        switch self {
        case .rest: point.offset - point.overlap
        case .lastByte: point.offset - 1
        case .validation, .whole: 0
        }
    }

    func fields(_ point: ResumePoint) -> [HeaderField] {
        switch self {
        case .rest(let isConditional), .lastByte(let isConditional):
            let last = point.end.flatMap { point.namesEnd && isRest ? "\($0 - 1)" : nil } ?? ""
            let range = HeaderField("Range", "bytes=\(start(point))-\(last)")
            guard isConditional, let condition = point.validator?.ifRange else { return [range] }
            return [range, HeaderField("If-Range", condition)]
        case .validation:
            if let etag = point.validator?.etag { return [HeaderField("If-None-Match", etag)] }
            return point.validator?.lastModified.map { [HeaderField("If-Modified-Since", $0)] } ?? []
        case .whole: return []
        }
    }
}
