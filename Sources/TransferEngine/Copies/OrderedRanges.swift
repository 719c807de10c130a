/// The plan by which several connections bring one stream of bytes in their order. The type performs no input or output.
///
/// The leading exchange brings the bytes at the head of the stream, which are handed on at once. Other connections fetch
/// chunks ahead of it, which wait in memory. A chunk is handed on, to the extent that it has come, once the head reaches
/// it. While a chunk covers the head, no exchange leads.
struct OrderedRanges: Sendable {
    /// A range that one connection fetches ahead of the head.
    struct Chunk: Sendable, Hashable {
        let number: Int
        let start: Int64
        /// The offset behind the last byte that has come.
        fileprivate(set) var position: Int64
        fileprivate(set) var end: Int64
        /// Whether an exchange fetches the chunk.
        fileprivate(set) var isOpen = true
        /// The position at the last look, and the time since when it has not moved.
        fileprivate var mark: (position: Int64, since: Double)?

        static func == (one: Chunk, other: Chunk) -> Bool { one.number == other.number }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    /// The sizes by which chunks are planned, in bytes.
    struct Plan: Sendable, Hashable {
        /// The length of a chunk, which is about a second of one connection.
        let length: Int64
        /// The distance from an exchange without an end to the first chunk.
        ///
        /// The chunk must have brought bytes by the time the exchange arrives there.
        let distance: Int64
        /// The most bytes that lie between the head and the end of a chunk.
        let bound: Int64

        /// The bounds of ``length``.
        static let lengths: ClosedRange<Int64> = 256 << 10...2 << 20

        /// - Parameters:
        ///   - pace: The rate of one connection in bytes a second.
        ///   - headStart: The seconds that ``distance`` takes.
        init(pace: Double, headStart: Double = 1, bound: Int64) {
            self.bound = bound
            length = min(
                max(Int64(clamping: pace), Self.lengths.lowerBound), Self.lengths.upperBound, max(1, bound / 8))
            distance = min(max(Int64(clamping: pace * headStart), length), max(1, bound / 2))
        }
    }

    /// The length of the whole stream.
    let total: Int64
    /// The offset of the next byte that is handed on.
    private(set) var head: Int64
    /// The offset at which the request of the leading exchange ends; `nil` while no exchange leads.
    private(set) var leadEnd: Int64?
    /// The chunks ahead of the head, in ascending order.
    private(set) var chunks: [Chunk] = []
    private var lastNumber = 0
    /// The time at which any byte was last seen to have come, and all positions at the last look.
    private var moved = (time: 0.0, sum: Int64(0))

    /// The time in seconds after which a chunk without progress is given up while others brought something.
    static let stall = 3.0
    /// The least bytes of a chunk at the head that is divided.
    private static let leastDivided: (usual: Int64, urgent: Int64) = (512 << 10, 64 << 10)

    /// Creates a plan for a stream whose leading exchange is at `head` and continues to the end.
    init(total: Int64, head: Int64) {
        self.total = total
        self.head = head
        leadEnd = total
    }

    /// The chunk that covers the head, if any.
    private var current: Chunk? { chunks.first.flatMap { $0.start <= head && $0.end > head ? $0 : nil } }

    /// The bytes that have come ahead of the head.
    var waiting: Int64 { chunks.reduce(0) { $0 + max(0, $1.position - max(head, $1.start)) } }

    /// The bytes that open exchanges have brought for their chunks.
    var underWay: Int64 { chunks.reduce(0) { $0 + ($1.isOpen ? $1.position - $1.start : 0) } }

    // MARK: The leading exchange

    /// The effect of bytes of the leading exchange.
    struct Step: Equatable {
        /// The number of bytes that are handed on.
        var count: Int
        /// The chunks that the exchange fetches itself, because no byte of them has come.
        var dropped: [Int] = []
        /// Whether the exchange ends here, because a chunk has the next byte.
        var stops = false
    }

    /// Takes bytes of the leading exchange.
    mutating func leading(_ count: Int) -> Step {
        var step = Step(count: count)
        let end = head + Int64(count)
        while let next = chunks.first, next.start <= end {
            if next.position > next.start {
                step.count = Int(next.start - head)
                head = next.start
                // A request that ends here anyway leaves its connection for the next one.
                step.stops = leadEnd != head
                if step.stops { leadEnd = nil }
                return step
            }
            guard next.start < end else { break }
            step.dropped.append(next.number)
            chunks.removeFirst()
        }
        head = end
        return step
    }

    /// Takes the end of the leading exchange.
    ///
    /// - Returns: Whether it is not needed again at its place, because its request is complete or a chunk covers the
    ///   head.
    mutating func leadEnded() -> Bool {
        guard head == leadEnd || current != nil else { return false }
        leadEnd = nil
        return true
    }

    /// Notes that no exchange leads, because it is not repeated yet.
    mutating func leadFailed() { leadEnd = nil }

    /// Returns the offset at which the request of an exchange at the head ends, and makes that exchange the leading one.
    ///
    /// - Parameter length: The bytes that the exchange fetches at most; `nil` for all up to the next chunk.
    mutating func lead(length: Int64?) -> Int64 {
        // Only the request for the whole file begins at its beginning.
        let limit = head == 0 ? total : min(total, length.map { head + $0 } ?? total)
        let end = head == 0 ? total : min(limit, chunks.first { $0.start > head }?.start ?? total)
        leadEnd = end
        return end
    }

    /// Whether an exchange must be started at the head.
    var needsLead: Bool { leadEnd == nil && head < total && current == nil }

    // MARK: Chunks

    /// Plans the next chunk.
    ///
    /// - Parameter limit: The offset at which a chunk may no longer begin, because no reader wants the bytes yet.
    /// - Returns: `nil` where no chunk may be fetched now.
    mutating func claim(_ plan: Plan, before limit: Int64) -> Chunk? {
        var start = head
        if let leadEnd { start = leadEnd < total ? leadEnd : head + plan.distance }
        var gapEnd = total
        for chunk in chunks {
            if start < chunk.start {
                gapEnd = chunk.start
                break
            }
            start = max(start, chunk.end)
        }
        var end = min(gapEnd, start + plan.length)
        if gapEnd - end < plan.length / 4 { end = gapEnd }
        guard start < end, start < min(limit, total), end <= head + plan.bound else { return nil }
        return add(start..<end)
    }

    private mutating func add(_ range: Range<Int64>) -> Chunk {
        lastNumber += 1
        let chunk = Chunk(
            number: lastNumber, start: range.lowerBound, position: range.lowerBound, end: range.upperBound)
        chunks.insert(chunk, at: chunks.firstIndex { $0.start > range.lowerBound } ?? chunks.endIndex)
        return chunk
    }

    /// Divides the chunk at the head for a connection that has nothing else to fetch.
    ///
    /// A small rest is divided only where half of the bound waits for it.
    ///
    /// - Returns: The later part of the rest, or `nil` where a division does not pay.
    mutating func divideHead(_ plan: Plan) -> Chunk? {
        guard leadEnd == nil, let chunk = current, chunk.isOpen else { return nil }
        let left = chunk.end - chunk.position
        guard left >= (waiting >= plan.bound / 2 ? Self.leastDivided.urgent : Self.leastDivided.usual) else {
            return nil
        }
        let middle = chunk.position + left / 2
        chunks[0].end = middle
        return add(middle..<chunk.end)
    }

    /// Takes bytes of a chunk.
    ///
    /// - Returns: The number of bytes that belong to the chunk; 0 for a chunk that is not wanted.
    mutating func received(_ number: Int, _ count: Int) -> Int {
        guard let index = chunks.firstIndex(where: { $0.number == number }) else { return 0 }
        let taken = Int(min(Int64(count), chunks[index].end - chunks[index].position))
        chunks[index].position += Int64(taken)
        return taken
    }

    /// Takes the end of a chunk's exchange. Missing bytes become free.
    ///
    /// - Returns: Whether the chunk is complete, or was not wanted.
    @discardableResult
    mutating func ended(_ number: Int) -> Bool {
        guard let index = chunks.firstIndex(where: { $0.number == number }) else { return true }
        chunks[index].isOpen = false
        let chunk = chunks[index]
        guard chunk.position < chunk.end else { return true }
        chunks[index].end = chunk.position
        if chunk.position <= max(head, chunk.start) { chunks.remove(at: index) }
        return false
    }

    /// The chunk at the head with the number of its bytes that can be handed on; `nil` where there is none.
    var ready: (number: Int, count: Int64)? {
        guard leadEnd == nil, let chunk = current, chunk.position > head else { return nil }
        return (chunk.number, chunk.position - head)
    }

    /// Hands bytes of the chunk at the head on.
    ///
    /// - Returns: The number of the chunk if all of it was handed on.
    mutating func handOn(_ count: Int) -> Int? {
        head += Int64(count)
        guard let chunk = chunks.first, chunk.end <= head else { return nil }
        chunks.removeFirst()
        return chunk.number
    }

    /// Returns the chunks that have not moved for ``stall`` seconds, although other bytes came since.
    ///
    /// - Parameter now: The time in seconds of any monotonic clock.
    mutating func stalled(now: Double) -> [Int] {
        let sum = chunks.reduce(head) { $0 + $1.position } + Int64(lastNumber)
        if sum != moved.sum { moved = (now, sum) }
        var numbers: [Int] = []
        for index in chunks.indices where chunks[index].isOpen {
            let chunk = chunks[index]
            guard let mark = chunk.mark, mark.position == chunk.position else {
                chunks[index].mark = (chunk.position, now)
                continue
            }
            if now - mark.since >= Self.stall, moved.time >= mark.since + Self.stall / 6 {
                numbers.append(chunk.number)
            }
        }
        return numbers
    }
}

extension Int64 {
    /// Creates the nearest number that is not negative.
    fileprivate init(clamping number: Double) { self = Int64(Swift.min(Swift.max(0, number), 1e15)) }
}
