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
