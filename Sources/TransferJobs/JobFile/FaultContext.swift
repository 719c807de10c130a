/// A fault of some bytes of the text at hand.
package struct Problem {
    package var message: String
    package var range: Range<Int>
    /// Whether the fault concerns a secret or the place of one; the quoted line then shows no values.
    package var isSecret = false
}

/// The context that turns problems, which only have offsets, into faults with lines and columns.
package struct FaultContext {
    package let bytes: UnsafeBufferPointer<UInt8>
    /// The line and column of an offset that precedes every problem and lies outside any string.
    package let base: SourceCursor
    /// The JSON path of the value that begins at `base`; `nil` in a list of URLs.
    package let path: String?
    /// Whether the text is a Metalink's XML.
    package var isXML = false

    /// The distance beyond which a line is quoted only from `base` on, since quoted text is searched for secrets first.
    private static let maxLookBehind = 4096
    private static let maxLookAhead = 512

    package func fault(_ problem: Problem, quoting: Bool) -> JobFileFault {
        JobFileFault(
            message: problem.message,
            path: path.map { JSONPath.of(problem.range.lowerBound, in: bytes, from: base.offset, prefix: $0) } ?? "",
            span: base.span(problem.range, in: bytes), excerpt: quoting ? excerpt(problem) : nil)
    }

    private func excerpt(_ problem: Problem) -> SourceExcerpt? {
        let target = min(problem.range.lowerBound, bytes.count)
        var start = target
        while start > 0, bytes[start - 1] != 0x0A, target - start <= Self.maxLookBehind { start -= 1 }
        let isWholeLine = start == 0 || bytes[start - 1] == 0x0A
        if !isWholeLine {
            start = base.offset
            guard target - start <= Self.maxLookBehind else { return nil }
        }
        var end = target
        while end < bytes.count, bytes[end] != 0x0A, end - target < Self.maxLookAhead { end += 1 }
        // The excerpt never ends inside a character.
        while end < bytes.count, end > target, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        while end > start, bytes[end - 1] == 0x0D { end -= 1 }
        let line = start..<end
        let blanks =
            isXML
            ? URLSecrets.inXML(line, in: bytes)
            : path == nil
                ? URLSecrets.inList(line, in: bytes, hidesValues: problem.isSecret)
                : LineTokens.secrets(line, in: bytes, hidesValues: problem.isSecret)
        return SourceExcerpt(line: line, marked: problem.range, blanks: blanks, in: bytes)
    }
}
