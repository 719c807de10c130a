/// A place in a text file, as editors name it.
public struct SourceSpan: Sendable, Hashable {
    /// Counted from 1.
    public var line: Int
    /// In characters (Unicode scalars), counted from 1.
    public var column: Int
    /// In characters; at least 1.
    public var length: Int

    public init(line: Int, column: Int, length: Int = 1) {
        self.line = line
        self.column = column
        self.length = length
    }
}

/// Turns byte offsets into lines and columns, going on from the last one so that a long file is read once.
package struct SourceCursor {
    package private(set) var offset = 0
    package private(set) var line = 1
    package private(set) var column = 1

    package init() {}

    /// The beginning of a line.
    package init(offset: Int, line: Int) {
        self.offset = offset
        self.line = line
    }

    package mutating func advance(to target: Int, in bytes: UnsafeBufferPointer<UInt8>) {
        let end = min(target, bytes.count)
        while offset < end {
            let byte = bytes[offset]
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                // Continuation bytes belong to the character before them.
                column += 1
            }
            offset += 1
        }
    }

    package func span(_ range: Range<Int>, in bytes: UnsafeBufferPointer<UInt8>) -> SourceSpan {
        var start = self
        start.advance(to: range.lowerBound, in: bytes)
        var end = start
        end.advance(to: range.upperBound, in: bytes)
        let length = end.line == start.line ? end.column - start.column : 1
        return SourceSpan(line: start.line, column: start.column, length: max(1, length))
    }

    /// - Parameter ranges: In the order of the text, which is read once for all of them.
    package func spans(_ ranges: [Range<Int>], in bytes: UnsafeBufferPointer<UInt8>) -> [SourceSpan] {
        var cursor = self
        return ranges.map { range in
            cursor.advance(to: range.lowerBound, in: bytes)
            return cursor.span(range, in: bytes)
        }
    }
}
