/// A set of bytes of a file, as sorted ranges that neither overlap nor touch.
public struct ByteRanges: Sendable, Hashable, Codable {
    /// The ranges in ascending order, separated by at least one byte.
    public private(set) var ranges: [Range<Int64>]

    /// Creates an empty set.
    public init() { ranges = [] }

    /// Creates a set of the bytes in a range.
    public init(_ range: Range<Int64>) { ranges = range.isEmpty ? [] : [range] }

    /// Adds the bytes of a range.
    public mutating func insert(_ new: Range<Int64>) {
        guard !new.isEmpty else { return }
        var merged = new
        let first = ranges.firstIndex { $0.upperBound >= new.lowerBound } ?? ranges.endIndex
        var last = first
        while last < ranges.endIndex, ranges[last].lowerBound <= new.upperBound {
            merged = min(merged.lowerBound, ranges[last].lowerBound)..<max(merged.upperBound, ranges[last].upperBound)
            last += 1
        }
        ranges.replaceSubrange(first..<last, with: CollectionOfOne(merged))
    }

    /// The number of bytes from the start of the file up to the first gap.
    public var prefixLength: Int64 {
        guard let first = ranges.first, first.lowerBound == 0 else { return 0 }
        return first.upperBound
    }

    /// Whether the set contains no byte.
    public var isEmpty: Bool { ranges.isEmpty }

    /// Removes the bytes of a range.
    public mutating func remove(_ gone: Range<Int64>) {
        guard !gone.isEmpty else { return }
        ranges = ranges.flatMap { range in
            [
                range.lowerBound..<max(range.lowerBound, min(range.upperBound, gone.lowerBound)),
                min(range.upperBound, max(range.lowerBound, gone.upperBound))..<range.upperBound,
            ].filter { !$0.isEmpty }
        }
    }

    /// Returns the bytes of `bounds` that are not in the set, in ascending order.
    public func gaps(in bounds: Range<Int64>) -> [Range<Int64>] {
        var gaps: [Range<Int64>] = []
        var next = bounds.lowerBound
        for range in ranges where range.upperBound > bounds.lowerBound && range.lowerBound < bounds.upperBound {
            if range.lowerBound > next { gaps.append(next..<range.lowerBound) }
            next = max(next, range.upperBound)
        }
        if next < bounds.upperBound { gaps.append(next..<bounds.upperBound) }
        return gaps
    }

    /// Returns the bytes of the set below `length`.
    public func clipped(to length: Int64) -> ByteRanges {
        var result = ByteRanges()
        for range in ranges where range.lowerBound < length {
            result.insert(range.lowerBound..<min(range.upperBound, length))
        }
        return result
    }

    /// Returns the largest ranges, at most `count` of them.
    public func largest(_ count: Int) -> ByteRanges {
        guard ranges.count > count else { return self }
        var result = ByteRanges()
        for range in ranges.sorted(by: { $0.count > $1.count }).prefix(count) { result.insert(range) }
        return result
    }

    /// Adds the bytes of another set.
    public mutating func formUnion(_ other: ByteRanges) { for range in other.ranges { insert(range) } }

    /// The number of bytes in the set.
    public var count: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

    /// Decodes an array of bounds.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        self.init()
        while !container.isAtEnd {
            let lower = try container.decode(Int64.self)
            let upper = try container.decode(Int64.self)
            guard lower >= 0, upper >= lower else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "a range that ends before it starts")
            }
            insert(lower..<upper)
        }
    }

    /// Encodes the bounds of the ranges as an array.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for range in ranges {
            try container.encode(range.lowerBound)
            try container.encode(range.upperBound)
        }
    }
}
