/// A place in a text file, in the terms of editors.
public struct SourceSpan: Sendable, Hashable {
    /// The line, counted from 1.
    public var line: Int
    /// The column in characters (Unicode scalars), counted from 1.
    public var column: Int
    /// The length in characters; at least 1.
    public var length: Int

    /// Creates a place; `line` and `column` count from 1.
    public init(line: Int, column: Int, length: Int = 1) {
        self.line = line
        self.column = column
        self.length = length
    }
}

/// The converter from byte offsets to lines and columns. It continues from the last offset, so that a long file is read
/// only once.
package struct SourceCursor {
    package private(set) var offset = 0
    package private(set) var line = 1
    package private(set) var column = 1

    package init() {}

    /// Creates a cursor at the beginning of a line.
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
                // Continuation bytes belong to the preceding character.
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

    /// Returns the places of several ranges.
    ///
    /// - Parameter ranges: The ranges in the order of the text, which is read once for all of them.
    package func spans(_ ranges: [Range<Int>], in bytes: UnsafeBufferPointer<UInt8>) -> [SourceSpan] {
        var cursor = self
        return ranges.map { range in
            cursor.advance(to: range.lowerBound, in: bytes)
            return cursor.span(range, in: bytes)
        }
    }
}
