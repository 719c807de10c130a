/// A place in a list, with the line that a fault quotes.
package struct ListPlace: Sendable {
    package var span: SourceSpan
    /// The line; `nil` for one that may contain a secret and so is never quoted.
    private var line: [UInt8]?
    private var range: Range<Int>

    /// Creates a place whose line is no longer available.
    package init(_ span: SourceSpan) {
        self.span = span
        range = 0..<0
    }

    /// Creates a place in a line.
    ///
    /// - Parameters:
    ///   - range: The bytes of the line at this place.
    ///   - line: The line without its terminator.
    ///   - number: The line's number, from 1.
    ///   - isSecret: Whether the line may contain a secret.
    package init(_ range: Range<Int>, in line: [UInt8], number: Int, isSecret: Bool = false) {
        let inside = range.clamped(to: 0..<line.count)
        span = line.withUnsafeBufferPointer { SourceCursor(offset: 0, line: number).span(inside, in: $0) }
        self.line = isSecret ? nil : line
        self.range = inside
    }

    package func fault(_ message: String) -> JobFileFault {
        JobFileFault(message: message, path: "", span: span, excerpt: excerpt)
    }

    private var excerpt: SourceExcerpt? {
        guard let line else { return nil }
        return line.withUnsafeBufferPointer { bytes in
            let whole = 0..<bytes.count
            return SourceExcerpt(
                line: whole, marked: range, blanks: URLSecrets.inXML(whole, in: bytes), in: bytes)
        }
    }
}
