import DequeModule
import TransferCore

/// The state of a ``RemoteStream`` that reads over several connections.
///
/// The bytes of one copy that wait for those before them are at most ``mostWaiting``. That is two seconds of a link of
/// 64 Mbit/s, and two chunks of the greatest length for each of ``mostConnections``. All copies together hold at most
/// ``budget``.
struct ReadAhead {
    /// The most connections of one source.
    static let mostConnections = 8
    /// The least bytes that are left of a file that gets a second connection.
    static let smallest: Int64 = 4 << 20
    static let mostWaiting: Int64 = 16 << 20
    private static let budget: Int64 = 64 << 20
    /// The chunks in a row whose exchanges may fail before no other chunk is asked for.
    private static let mostFailures = 3
    /// The longest pause of the head in seconds, and the most pauses in a row.
    private static let pause = (longest: 10.0, most: 4)

    var ranges: OrderedRanges
    /// The exchanges that fetch chunks, by the chunks' numbers; `nil` until the engine has returned the handle.
    private(set) var exchanges: [Int: ExchangeHandle?] = [:]
    private var pieces: [Int: Deque<[UInt8]>] = [:]
    /// The number of connections, the leading exchange's included.
    private(set) var wanted = 1
    private var pace = 0.0
    /// The seconds in which the exchange at the head does not reach the first chunk. They double after a chunk that was
    /// reached too early.
    private var headStart = 1.0
    private var failures = 0
    /// The pauses of the head since its last byte, and the time at which the current one ends.
    private var pauses = (count: 0, until: Double?.none)
    /// Whether a chunk has ended the leading exchange. One connection would then not have made the request at the head.
    private(set) var hasEndedLeader = false
    /// Whether a thread is handing bytes on. No other does meanwhile.
    var isDelivering = false

    init(total: Int64, head: Int64) { ranges = OrderedRanges(total: total, head: head) }

    /// Whether parts of the file can be requested, and recognized as parts of this version.
    static func isPossible(_ start: BodyStart, _ version: RemoteVersion, isProven: Bool) -> Bool {
        guard !FileServerURL.isMeant(by: start.url), version.size - start.offset >= smallest,
            start.head.contentCoding == nil,
            start.head.status == 206 || start.head.value("Accept-Ranges")?.lowercased() == "bytes"
        else { return false }
        return isProven || version.validator?.ifRange != nil
    }

    /// Whether the server has not refused to give parts for good.
    var givesParts: Bool { failures < Self.mostFailures }

    /// The number of connections under way.
    var connections: Int { exchanges.count + (ranges.leadEnd == nil ? 0 : 1) }

    /// The number of connections under way that have brought bytes.
    var working: Int {
        ranges.chunks.count { $0.isOpen && $0.position > $0.start } + (ranges.leadEnd == nil ? 0 : 1)
    }

    private var plan: OrderedRanges.Plan {
        OrderedRanges.Plan(
            pace: pace, headStart: headStart, bound: min(Self.mostWaiting, Self.budget / Int64(BodyPipe.count)))
    }

    /// Sets the number of connections.
    ///
    /// - Parameters:
    ///   - pace: The rate of one connection in bytes a second.
    ///   - now: The time in seconds of any monotonic clock.
    mutating func spread(over count: Int, pace: Double, now: Double) {
        if let until = pauses.until, now >= until { pauses.until = nil }
        wanted = givesParts ? max(1, min(count, Self.mostConnections)) : 1
        self.pace = pace
    }

    /// Returns the offset at which the request of an exchange at the head ends.
    mutating func lead() -> Int64 { ranges.lead(length: wanted > 1 ? plan.length : nil) }

    /// Whether an exchange must be started at the head now.
    ///
    /// Bytes that are being handed on precede those of a new exchange.
    var needsLead: Bool { ranges.needsLead && !isDelivering && pauses.until == nil }

    /// Lets the head wait after a refusal that one connection would not have met.
    ///
    /// - Parameter now: The time in seconds of any monotonic clock.
    /// - Returns: `false` where the error ends the stream.
    mutating func pauseHead(after error: TransferError, now: Double) -> Bool {
        let length = error.retryAfter?.inSeconds ?? Double(1 << pauses.count)
        guard hasEndedLeader, error.isTransient, error.code != .sourceChanged, pauses.count < Self.pause.most,
            length <= Self.pause.longest
        else { return false }
        pauses = (pauses.count + 1, now + length)
        ranges.leadFailed()
        wanted = max(1, min(wanted, connections))
        return true
    }

    /// Plans the chunks that can be requested now.
    mutating func claim(before limit: Int64) -> [OrderedRanges.Chunk] {
        guard pauses.until == nil else { return [] }
        var claimed: [OrderedRanges.Chunk] = []
        while connections < wanted, let chunk = ranges.claim(plan, before: limit) ?? ranges.divideHead(plan) {
            exchanges.updateValue(nil, forKey: chunk.number)
            claimed.append(chunk)
        }
        return claimed
    }

    /// Notes the handle of a chunk's exchange.
    ///
    /// - Returns: Whether the exchange is wanted.
    mutating func began(_ number: Int, _ handle: ExchangeHandle) -> Bool {
        guard exchanges.keys.contains(number) else { return false }
        exchanges[number] = handle
        return true
    }

    /// Takes bytes of a chunk.
    ///
    /// - Returns: Whether more of them are wanted.
    mutating func received(_ number: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard exchanges.keys.contains(number) else { return false }
        let taken = ranges.received(number, bytes.count)
        guard taken > 0 else { return false }
        if givesParts { failures = 0 }
        pauses.count = 0
        pieces[number, default: []].append([UInt8](bytes[..<taken]))
        return taken == bytes.count
    }

    /// Takes the end of a chunk's exchange.
    ///
    /// - Parameter isFinal: Whether the server does not give the parts that it is asked for.
    /// - Returns: Whether the chunk is complete.
    mutating func ended(_ number: Int, isFinal: Bool) -> Bool {
        guard exchanges.removeValue(forKey: number) != nil else { return true }
        if ranges.ended(number) { return true }
        fail(isFinal: isFinal)
        return false
    }

    private mutating func fail(isFinal: Bool) {
        failures = isFinal ? Self.mostFailures : failures + 1
        // The queue decides when the lost connection is replaced.
        wanted = max(1, min(wanted, givesParts ? connections : 1))
    }

    /// Forgets chunks that the leading exchange fetches itself.
    ///
    /// - Returns: The exchanges to cancel.
    mutating func drop(_ numbers: [Int]) -> [ExchangeHandle] {
        if !numbers.isEmpty {
            headStart *= 2
            fail(isFinal: false)
        }
        return numbers.compactMap { exchanges.removeValue(forKey: $0) ?? nil }
    }

    /// All exchanges of chunks.
    var handles: [ExchangeHandle] { exchanges.values.compactMap { $0 } }

    /// Takes bytes of the leading exchange.
    mutating func leading(_ count: Int) -> OrderedRanges.Step {
        let step = ranges.leading(count)
        if step.stops { (hasEndedLeader, isDelivering) = (true, true) }
        pauses.count = 0
        return step
    }

    /// Removes the next piece that can be handed on.
    mutating func next() -> [UInt8]? {
        guard !isDelivering, let (number, count) = ranges.ready, let piece = pieces[number]?.popFirst() else {
            return nil
        }
        assert(piece.count <= count)
        if let done = ranges.handOn(piece.count) { pieces[done] = nil }
        return piece
    }

    /// Returns the exchanges to cancel because they do not move.
    mutating func stalled(now: Double) -> [ExchangeHandle] {
        ranges.stalled(now: now).compactMap { exchanges[$0] ?? nil }
    }
}
