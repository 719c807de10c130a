/// A set of bytes of a file: sorted ranges that neither overlap nor touch.
public struct ByteRanges: Sendable, Hashable, Codable {
    public private(set) var ranges: [Range<Int64>]

    public init() { ranges = [] }

    public init(_ range: Range<Int64>) { ranges = range.isEmpty ? [] : [range] }

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

    /// How many bytes from the start of the file are there without a gap.
    public var prefixLength: Int64 {
        guard let first = ranges.first, first.lowerBound == 0 else { return 0 }
        return first.upperBound
    }

    public var isEmpty: Bool { ranges.isEmpty }

    /// Takes the bytes out.
    public mutating func remove(_ gone: Range<Int64>) {
        guard !gone.isEmpty else { return }
        ranges = ranges.flatMap { range in
            [
                range.lowerBound..<max(range.lowerBound, min(range.upperBound, gone.lowerBound)),
                min(range.upperBound, max(range.lowerBound, gone.upperBound))..<range.upperBound,
            ].filter { !$0.isEmpty }
        }
    }

    /// The bytes of `bounds` that aren't there, in their order.
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

    /// The same bytes as far as they lie below `length`.
    public func clipped(to length: Int64) -> ByteRanges {
        var result = ByteRanges()
        for range in ranges where range.lowerBound < length {
            result.insert(range.lowerBound..<min(range.upperBound, length))
        }
        return result
    }

    /// The largest of the ranges, as many as that; all where there are no more.
    public func largest(_ count: Int) -> ByteRanges {
        guard ranges.count > count else { return self }
        var result = ByteRanges()
        for range in ranges.sorted(by: { $0.count > $1.count }).prefix(count) { result.insert(range) }
        return result
    }

    public mutating func formUnion(_ other: ByteRanges) { for range in other.ranges { insert(range) } }

    public var count: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

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

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for range in ranges {
            try container.encode(range.lowerBound)
            try container.encode(range.upperBound)
        }
    }
}
