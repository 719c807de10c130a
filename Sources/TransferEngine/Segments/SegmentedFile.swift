import CTransferLinux
import Glibc
import Synchronization
public import TransferCore
public import TransferEventLoop

/// A partial file that several exchanges fill at once, with the map of its claims and existing bytes.
///
/// The file begins with one exchange that writes from the first byte on (a ``FileSink``): its size shows how many bytes
/// exist. From `split` or `resume` on the map shows them. The map is in memory, in the `SegmentLog` beside the file
/// after each write, and in the file's record at each checkpoint. The exchanges may be on different loops.
public final class SegmentedFile: Sendable {
    private struct State {
        var map: RangeMap?
        var log: SegmentLog?
        /// The pairs of the log, by the claims that use them.
        var slots: [Int: Int] = [:]
        var slotCount = 0
        /// The claim of the exchange that began the file.
        var lead: Int?
        /// Whether the request of that exchange named the end of its part.
        var isBounded = false
        /// The content of a record, apart from the ranges.
        var template: ResumeData?
        var synced = ByteRanges()
        var sinceCheckpoint: Int64 = 0
        var sinceReading: Int64 = 0
        /// The number of bytes on their way to the exchange that began the file.
        var onTheWay: Int64 = 0
        /// The bytes that existed before, behind the first hole.
        var beside: Int64 = 0
    }

    private let part: PartFile
    private let workers: WorkerPool
    private let meter: ExchangeMeter
    /// The store of records that the file cannot hold.
    public let recorder: ResumeRecorder?
    /// The reading of the file's beginning while the rest arrives.
    public let ahead: ReadingAhead
    /// The bytes that parts fetched once more, for a comparison when the file is whole.
    public let seams = SeamList()
    /// The bounds on the rate that all exchanges of the file share.
    public let limiters: [RateLimiter]
    private let state = Mutex(State())
    private let split = Atomic(false)

    /// The bytes of one write: the cost of a kill for each range.
    private static let piece = 64 << 10
    private static let readingDistance: Int64 = 8 << 20
    /// The most ranges in a record: an attribute has limited space, and the map beside the file has all ranges.
    private static let mostRecorded = 24

    /// Creates the value for a file that one exchange fills.
    ///
    /// - Parameter algorithm: The digest that judges the file.
    public init(
        _ part: PartFile, meter: ExchangeMeter, workers: WorkerPool, limiters: [RateLimiter] = [],
        recorder: ResumeRecorder?, algorithm: DigestAlgorithm? = nil
    ) {
        ahead = ReadingAhead(part, algorithm)
        self.limiters = limiters
        self.part = part
        self.meter = meter
        self.workers = workers
        self.recorder = recorder
    }

    /// Whether the map shows the existing bytes.
    public var isSplit: Bool { split.load(ordering: .acquiring) }

    // MARK: Beginnings

    /// Continues a file with holes: the exchange that begins fills the first one. The call blocks: it is meant for
    /// workers.
    ///
    /// - Parameter received: The existing ranges; more than one, the first of them from the file's start on.
    /// - Returns: The end of the first hole.
    /// - Throws: The error of the disk.
    public func resume(_ record: ResumeData, received: ByteRanges, total: Int64) throws(TransferError) -> Int64 {
        let log = try SegmentLog.make(
            beside: part.asLogged, total: total, mark: record.mapMark ?? 0, received.ranges)
        part.hasMap = true
        let end = state.withLock { state in
            var map = RangeMap(total: total, received: received)
            let hole = map.unclaimed.first ?? total..<total
            state.lead = map.claim(hole)
            state.map = map
            state.log = log
            state.slotCount = received.ranges.count
            state.isBounded = true
            state.template = record
            state.synced = record.synced
            state.beside = map.receivedCount - hole.lowerBound
            if let lead = state.lead { Self.giveSlot(lead, at: hole.lowerBound, &state) }
            return hole.upperBound
        }
        meter.add(beside: state.withLock { $0.beside })
        split.store(true, ordering: .releasing)
        return end
    }

    /// Makes a map of a file that one exchange has filled so far. The call blocks: it is meant for workers.
    ///
    /// - Parameters:
    ///   - record: The record of the existing bytes, whose ranges are replaced.
    ///   - position: The position of the exchange, or slightly less.
    ///   - then: A closure that is called with `nil` once the file is known to have holes, also after a kill. Other
    ///     exchanges may write from then on. It is never called where that cannot be recorded because the exchange has
    ///     ended.
    public func split(
        _ record: ResumeData, at position: Int64, total: Int64,
        then: @escaping @Sendable (TransferError?) -> Void
    ) {
        do throws(TransferError) {
            try part.ensureNamed()
            let mark = UInt64.random(in: 1 ... .max)
            let log = try SegmentLog.make(beside: part.asLogged, total: total, mark: mark, [0..<position])
            part.hasMap = true
            Failpoint.reached(.segmentsPrepared)
            state.withLock { state in
                var map = RangeMap(total: total, received: ByteRanges(0..<position))
                let lead = map.claim(position..<total)
                state.lead = lead
                state.map = map
                state.log = log
                state.slotCount = 1
                state.template = record
                state.template?.mapMark = mark
                state.synced = record.synced
                Self.giveSlot(lead, at: position, &state)
            }
            split.store(true, ordering: .releasing)
        } catch {
            return then(error)
        }
        guard let record = self.record() else { return then(nil) }
        // No record of a file without holes is written after this one.
        if part.record(record) {
            Failpoint.reached(.segmentsRecorded)
            return then(nil)
        }
        guard let recorder else {
            return then(TransferError(.fileAccess, "\(part.path) cannot bear a record of its ranges"))
        }
        recorder(record) { then(nil) }
    }

    /// Discards the bytes: the file begins anew, with one exchange.
    func reset() {
        ahead.cancel()
        let beside = state.withLock { state in
            let beside = state.beside
            state = State()
            return beside
        }
        meter.add(beside: -beside)
        split.store(false, ordering: .releasing)
        part.removeMap()
    }

    /// Lets the first exchange continue to the end, over existing bytes, because the server gives no parts.
    func runOn() {
        ahead.cancel()
        let beside = state.withLock { state in
            guard let lead = state.lead else { return Int64(0) }
            state.map?.extendToEnd(lead)
            defer { state.beside = 0 }
            return state.beside
        }
        meter.add(beside: -beside)
    }

    // MARK: Claims

    /// Claims the range that a free connection fetches next.
    ///
    /// - Parameters:
    ///   - rate: The rate that is expected of the connection, in bytes a second.
    ///   - rates: The rates of the other connections, by their claims.
    ///   - way: The path to the server of a new connection.
    /// - Returns: The number of the claim; `nil` when nothing is left that is worth a request.
    public func claimNext(rate: Double?, rates: [Int: Double], way: RangeMap.Way) -> Int? {
        state.withLock { state in
            guard let number = state.map?.claimNext(rate: rate, rates: rates, way: way),
                let claim = state.map?.claims[number]
            else { return nil }
            Self.giveSlot(number, at: claim.start, &state)
            return number
        }
    }

    /// Releases a claim that its connection has completed, or cannot continue.
    ///
    /// - Parameter toLead: Whether the exchange that began the file may continue with the rest, where that follows its
    ///   own claim, because its request named no end.
    /// - Returns: Whether all bytes of the claim came.
    @discardableResult
    public func release(_ number: Int, toLead: Bool = false) -> Bool {
        let (isDone, discarded) = state.withLock { state in
            state.slots[number] = nil
            if state.lead == number { state.lead = nil }
            guard let claim = state.map?.release(number) else { return (false, Int64(0)) }
            guard toLead, !state.isBounded, let lead = state.lead else { return (claim.isDone, 0) }
            return (claim.isDone, state.map?.extendOverGap(lead) ?? 0)
        }
        if discarded > 0 { meter.add(beside: -discarded) }
        return isDone
    }

    /// Notes the end of the exchange that began the file.
    ///
    /// - Parameter position: The position of the exchange, which a map that was made meanwhile may lack.
    public func leadEnded(at position: Int64) {
        state.withLock { state in
            guard let lead = state.lead else { return }
            state.map?.advance(lead, to: position)
            state.map?.release(lead)
            state.slots[lead] = nil
            state.lead = nil
        }
    }

    /// The claim of the exchange that began the file.
    public var lead: Int? { state.withLock { $0.lead } }

    /// Notes how many bytes are on their way to the exchange that began the file. They arrive even if it ends.
    public func onTheWayToLead(_ bytes: Int64) { state.withLock { $0.onTheWay = bytes } }

    /// The map as it is now; `nil` while one exchange fills the file.
    public var map: RangeMap? { state.withLock { $0.map } }

    /// The bytes behind the first hole that existed at the beginning.
    public var besideAtFirst: Int64 { state.withLock { $0.beside } }

    private static func giveSlot(_ number: Int, at start: Int64, _ state: inout State) {
        // A claim that cannot be recorded is fetched again after a kill.
        guard (try? state.log?.add(state.slotCount, start: start, position: start)) != nil else { return }
        state.slots[number] = state.slotCount
        state.slotCount += 1
    }

    // MARK: Writing

    /// Writes the bytes that belong to the claim. Bytes behind its end belong to another claim.
    ///
    /// - Parameter position: The offset of the bytes; it is moved to their end.
    /// - Throws: `TransferError.partDone` where the claim ends before the bytes.
    func write(
        _ bytes: UnsafeRawBufferPointer, at position: inout Int64, claim number: Int, isLead: Bool
    ) throws(TransferError) {
        var rest = bytes
        while !rest.isEmpty {
            let (room, discarded) = state.withLock { Self.room(number, at: position, isLead: isLead, &$0) }
            if discarded > 0 { meter.add(beside: -discarded) }
            guard room > 0 else { throw .partDone }
            let count = pwrite(
                part.descriptor, rest.baseAddress, min(rest.count, Self.piece, Int(clamping: room)), off_t(position))
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .file("write", part.path, errno)
            }
            Failpoint.reached(.segmentWritten)
            position += Int64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            try came(count, to: position, number)
            if !isLead { meter.add(beside: Int64(count)) }
        }
    }

    /// Returns the remaining bytes of a claim.
    ///
    /// The exchange that began the file keeps its answer, where that continues to the file's end, over parts that have
    /// no bytes yet. Only a delivered part proves that the server gives parts. The same holds for parts with fewer
    /// bytes than are on the way to that exchange. A fast connection is thus not left for new ones.
    ///
    /// - Returns: The remaining bytes, and the bytes of other claims that are fetched again.
    private static func room(
        _ number: Int, at position: Int64, isLead: Bool, _ state: inout State
    ) -> (room: Int64, discarded: Int64) {
        guard let claim = state.map?.claims[number] else { return (0, 0) }
        if claim.end > position { return (claim.end - position, 0) }
        guard isLead, !state.isBounded else { return (0, 0) }
        let discarded = state.map?.takeOver(number, onTheWay: state.onTheWay) ?? 0
        return (state.map?.claims[number].map { $0.end - position } ?? 0, discarded)
    }

    private func came(_ count: Int, to position: Int64, _ number: Int) throws(TransferError) {
        let (log, slot, isDue, prefix) = state.withLock { state in
            state.map?.advance(number, to: position)
            state.sinceCheckpoint += Int64(count)
            state.sinceReading += Int64(count)
            let isDue =
                state.sinceCheckpoint >= CheckpointDistance.shortest
                && state.sinceCheckpoint
                    >= CheckpointDistance.after(state.synced.count, outlivesKills: part.mount != nil)
            if isDue { state.sinceCheckpoint = 0 }
            var prefix: Int64?
            if state.sinceReading >= Self.readingDistance {
                state.sinceReading = 0
                prefix = state.map?.received.prefixLength
            }
            return (state.log, state.slots[number], isDue, prefix)
        }
        if let prefix { ahead.reached(prefix, by: workers) }
        if let slot { try log?.move(slot, to: position) }
        if isDue { checkpoint() }
    }

    // MARK: Records

    /// Returns the record by which the file can be continued later, or `nil` while one exchange fills the file.
    public func record() -> ResumeData? {
        state.withLock { state in
            guard let map = state.map, var record = state.template else { return nil }
            record.total = map.total
            record.written = map.received.largest(Self.mostRecorded)
            record.synced = state.synced.largest(Self.mostRecorded)
            record.isSequential = false
            record.bootID = BootID.current
            record.mount = part.mount
            record.partialFile = part.path
            record.partialInode = part.inode
            return record
        }
    }

    /// Makes the written bytes durable, concurrently with the transfers.
    private func checkpoint() {
        workers.execute { [self] in
            let generation = part.currentGeneration
            guard let received = map?.received, (try? part.sync()) != nil else { return }
            Failpoint.reached(.checkpointSynced)
            state.withLock { state in
                guard state.map != nil else { return }
                state.synced.formUnion(received)
            }
            if let record = record() { part.record(record, generation: generation, recorder: recorder) }
            Failpoint.reached(.checkpointRecorded)
        }
    }
}

extension TransferError {
    /// The result of a claim whose bytes have all come; other exchanges fetch the following ones.
    public static let partDone = TransferError(.cancelled, "the part has come")
}
