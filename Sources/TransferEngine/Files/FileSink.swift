import CTransferFailpoint
import Glibc
public import TransferCore
import TransferCrypto
public import TransferEventLoop

/// Keeps records of a partial file that its file system can't carry (``PartFile/holdsRecords``), for the next process.
///
/// Called from any thread. The later record is the one that holds; the second closure is called once it will be found after
/// a kill, or never where the exchange is over by then. Who keeps them goes on with the exchange afterwards
/// (``ExchangeHandle/proceed()``).
public typealias ResumeRecorder = @Sendable (ResumeData, _ kept: @escaping @Sendable () -> Void) -> Void

/// Takes the body of one exchange; used on one loop.
public protocol BodySink: AnyObject {
    /// Bytes of the file that are in place.
    var position: Int64 { get }
    /// The body that comes belongs at `start.offset`; what was there from that offset on is given up.
    func begin(_ start: BodyStart) throws(TransferError)
    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError)
    /// Whether it takes more. When it doesn't, nothing is read from the network until `ExchangeHandle.proceed()`,
    /// which whoever makes it ready again has to call.
    var isReady: Bool { get }
    /// Why a body that has ended isn't what was announced.
    var shortfall: TransferError? { get }
}

extension BodySink {
    public var isReady: Bool { true }
    public var shortfall: TransferError? { nil }
}

/// Writes a body to a partial file, straight from libcurl's buffer, and hashes it on the way. What of it is there already
/// is compared and not written.
public final class FileSink: BodySink {
    public private(set) var position: Int64
    private let part: PartFile
    private let workers: WorkerPool
    private let url: String
    private var checkpointDistance = CheckpointDistance.longest
    private var lastCheckpoint: Int64
    private var digest: Digest?
    private var start: BodyStart?
    private let state: FileSinkState
    /// The record of the bytes that were there before.
    private let earlier: ResumeData?
    /// Bytes of the body that are still to be compared with those that are there.
    private var uncompared: Range<Int64> = 0..<0
    private let recorder: ResumeRecorder?
    /// The claims of a file that other exchanges may fill too.
    private let segments: SegmentedFile?
    /// Whether nothing is recorded of the bytes yet, as their number wasn't known at their beginning.
    private var isRecordDue = false
    /// The claim of the server's bytes, where they weren't those that are there.
    private(set) var doubtfulClaim: String?

    /// - Parameters:
    ///   - offset: Bytes of the file that are there and stay, unless the server makes it start again.
    ///   - url: Redacted, for the record.
    ///   - algorithm: Hash the body, if it comes from the first byte on.
    ///   - earlier: What was recorded of the bytes that are there; `nil` for what the file itself says.
    ///   - keeper: Has the records that the file can't bear.
    ///   - algorithmOfAnswer: Chosen by the answer where `algorithm` is `nil`.
    ///   - segments: The file's map, where others may fill it too.
    public init(
        _ part: PartFile, offset: Int64, url: String, algorithm: DigestAlgorithm?, workers: WorkerPool,
        state: FileSinkState, earlier: ResumeData? = nil, recorder: ResumeRecorder? = nil,
        algorithmOfAnswer: (@Sendable (ResponseHead) -> DigestAlgorithm?)? = nil, segments: SegmentedFile? = nil
    ) {
        self.algorithmOfAnswer = algorithmOfAnswer
        self.recorder = recorder
        self.segments = segments
        self.earlier = earlier ?? part.initialRecord
        self.part = part
        self.workers = workers
        self.url = url
        self.state = state
        position = offset
        lastCheckpoint = offset
        self.algorithm = algorithm
    }

    private let algorithm: DigestAlgorithm?
    /// Another one that the answer asks for, where none was named.
    private let algorithmOfAnswer: (@Sendable (ResponseHead) -> DigestAlgorithm?)?
    /// Below this a file is not worth a record of its own: it's fetched again.
    private static let recordThreshold: Int64 = 256 << 10
    /// Bytes that are lost by a kill before anything is recorded of them.
    private static let mostUnrecorded: Int64 = 2 << 20

    public var isReady: Bool { state.isReady }

    public func begin(_ start: BodyStart) throws(TransferError) {
        let isPart = if let segments, segments.isSplit { try beginPart(start, segments) } else { false }
        self.start = start
        if start.continued == 0, !isPart {
            if position > 0 || part.initialSize > 0 {
                if start.setsAside { try part.setAside() } else { try part.truncate() }
                state.restart()
            }
        } else if start.continued != position {
            // Bytes beyond the continuation were not trusted.
            try part.truncate(to: start.continued)
            digest = nil
        }
        if start.offset == 0 {
            digest = try (algorithm ?? algorithmOfAnswer?(start.head)).map { algorithm throws(TransferError) in
                do { return try Digest(algorithm) } catch { throw error as? TransferError ?? .internalFault(error) }
            }
        } else if start.overlap > 0 {
            digest = nil
        }
        uncompared = start.offset..<start.continued
        position = start.continued
        lastCheckpoint = position
        // A file that ends before isn't looked at for it.
        if (start.total ?? .max) - position > CheckpointDistance.shortest {
            checkpointDistance = CheckpointDistance.after(position, outlivesKills: part.mount != nil)
        }
        // Small files are fetched again rather than continued: only larger ones need a name on the way.
        if start.total ?? .max >= Self.recordThreshold { try part.ensureNamed() }
        Failpoint.reached(.partBegun)
        let isKept = keepBeginning()
        // The version of the bytes isn't known before they were compared.
        let isOld = start.overlap > 0
        isRecordDue = start.total == nil && start.isContinuable && !isOld && !isKept
        if let total = start.total, total >= Self.recordThreshold, segments?.isSplit != true {
            try part.checkSpace(total)
            let generation = part.currentGeneration
            let (part, state, record) = (part, state, record())
            state.isRecorded = isOld || isKept
            // The record first: blocks may be long in coming, and the loop doesn't wait for them.
            workers.execute { [recorder] in
                if !isOld, !isKept { part.record(record, generation: generation, recorder: recorder) }
                state.isRecorded = true
                Failpoint.reached(.partRecorded)
                do throws(TransferError) { try part.reserve(total, generation: generation) } catch { state.fail(error) }
                Failpoint.reached(.partReserved)
            }
        }
    }

    /// A file with holes goes on.
    ///
    /// - Returns: Whether the answer is the part that was asked for, which may be the file's beginning.
    private func beginPart(_ start: BodyStart, _ segments: SegmentedFile) throws(TransferError) -> Bool {
        // The map's word is only heard of bytes that stay.
        guard self.start == nil else {
            guard start.continued == position else {
                throw TransferError(.badResponse, "the answer doesn't go on where it ended", isTransient: true)
            }
            return true
        }
        if start.head.status == 206, start.continued == position { return true }
        if start.continued == 0 || start.continued != position {
            if let record = segments.record() { part.record(record) }
            segments.reset()
        } else if start.head.status != 206 {
            segments.runOn()
        }
        return false
    }

    /// Where the file can't bear what it is, that is written down elsewhere before its first byte: otherwise it's nobody's
    /// after a kill, or an earlier record is taken for that of the new bytes.
    ///
    /// - Returns: Whether it is.
    private func keepBeginning() -> Bool {
        guard let recorder, start?.continued == 0, part.isNamed, !part.holdsRecords else { return false }
        state.hold()
        recorder(record()) { [state] in state.release() }
        return true
    }

    /// A body whose length nobody knows has turned out to be worth a record.
    private func recordSize() {
        isRecordDue = false
        let generation = part.currentGeneration
        let (part, state, record) = (part, state, record())
        state.isRecorded = false
        workers.execute { [recorder] in
            part.record(record, generation: generation, recorder: recorder)
            state.isRecorded = true
            Failpoint.reached(.partRecorded)
        }
    }

    public func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        if let failure = state.failure { throw failure }
        digest?.update(bytes)
        part.sums.add(bytes, at: uncompared.isEmpty ? position : uncompared.lowerBound)
        var rest = uncompared.isEmpty ? bytes : try compare(bytes)
        if let segments, segments.isSplit {
            digest = nil
            guard let claim = segments.lead else { throw .partDone }
            return try segments.write(rest, at: &position, claim: claim, isLead: true)
        }
        while !rest.isEmpty {
            let count = pwrite(part.descriptor, rest.baseAddress, rest.count, off_t(position))
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .file("write", part.path, errno)
            }
            position += Int64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            Failpoint.reached(.bytesWritten)
        }
        if isRecordDue, position >= Self.recordThreshold { recordSize() }
        if position - (start?.continued ?? 0) >= Self.mostUnrecorded, !state.isRecorded { recordHere() }
        if position - lastCheckpoint >= checkpointDistance, start?.isContinuable == true { checkpoint() }
    }

    /// The workers are behind the network: to write an attribute takes the loop less than what a kill would cost.
    private func recordHere() {
        let generation = part.currentGeneration
        part.record(record(), generation: generation, recorder: recorder)
        state.isRecorded = true
    }

    /// - Returns: The bytes behind those that are there.
    /// - Throws: When they differ.
    private func compare(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> UnsafeRawBufferPointer {
        let count = min(bytes.count, Int(uncompared.count))
        var isSame = true
        var done = 0
        withUnsafeTemporaryAllocation(byteCount: min(count, 64 << 10), alignment: 16) { buffer in
            while done < count, isSame {
                let wanted = min(buffer.count, count - done)
                let read = pread(
                    part.descriptor, buffer.baseAddress, wanted, off_t(uncompared.lowerBound) + off_t(done))
                if read < 0, errno == EINTR { continue }
                guard read > 0, let mine = buffer.baseAddress, let others = bytes.baseAddress else {
                    isSame = false
                    break
                }
                isSame = memcmp(mine, others + done, read) == 0
                done += read
            }
        }
        guard isSame else {
            doubtfulClaim = ResumeClaim.otherBytes
            throw .otherBytes
        }
        uncompared = (uncompared.lowerBound + Int64(count))..<uncompared.upperBound
        return UnsafeRawBufferPointer(rebasing: bytes[count...])
    }

    public var shortfall: TransferError? {
        guard !uncompared.isEmpty else { return nil }
        return TransferError(.connectionLost, "the answer ended before what is there already", isTransient: true)
    }

    /// Whether the file has the bytes that it had before, and no others: no answer came, or nothing new with it.
    public var isUntouched: Bool { start.map { !uncompared.isEmpty && $0.overlap > 0 } ?? true }

    /// The state that can be continued from here; `nil` when nothing is there, and when no answer came: then what was
    /// recorded before still holds.
    public func resumeData() -> ResumeData? {
        guard let start, position > 0, start.isContinuable, !isUntouched else { return nil }
        return record()
    }

    /// The digest of the whole file, when it was written from its first byte on by this sink.
    public func finishDigest() -> Checksum? {
        defer { digest = nil }
        return try? digest?.finish()
    }

    /// The generation that it's written for has to be asked for before: a map that is made meanwhile is a later one.
    private func record() -> ResumeData {
        if let segments, segments.isSplit, let record = segments.record() { return record }
        var record = ResumeData(
            url: url, validator: validator, total: start?.total,
            written: ByteRanges(0..<position), synced: state.synced, bootID: BootID.current, mount: part.mount,
            partialFile: part.path, partialInode: part.inode)
        record.isSequential = start?.isContinuable ?? true
        if let start {
            record.place = start.place
            record.contentCoding = start.head.contentCoding?.lowercased()
            record.mediaType = start.head.mediaType ?? (isPart ? earlier?.mediaType : nil)
            if start.continued > 0 { record.adopted = earlier?.adopted }
        }
        return record
    }

    /// Whether the answer is a part of the version that the bytes before it are of.
    private var isPart: Bool { start.map { $0.head.status == 206 && $0.continued > 0 } ?? false && earlier?.url == url }

    /// A 206 needn't repeat Last-Modified (RFC 9110 §15.3.7): then what the bytes before it were recorded with holds.
    private var validator: Validator? {
        guard let start else { return nil }
        return Validator(start.head) ?? (isPart ? earlier?.validator : nil)
    }

    /// Makes durable, beside the transfer, what has been written.
    private func checkpoint() {
        lastCheckpoint = position
        checkpointDistance = CheckpointDistance.after(position, outlivesKills: part.mount != nil)
        let generation = part.currentGeneration
        var record = record()
        record.synced = ByteRanges(0..<position)
        let (part, state, position) = (part, state, position)
        workers.execute { [record, recorder] in
            do throws(TransferError) {
                try part.sync()
                Failpoint.reached(.checkpointSynced)
                if part.isCurrent(generation, and: { state.didSync(position) }) {
                    part.record(record, generation: generation, recorder: recorder)
                }
                Failpoint.reached(.checkpointRecorded)
            } catch {
                state.fail(error)
            }
        }
    }
}

extension TransferError {
    static func internalFault(_ error: any Error) -> TransferError { TransferError(.internalFault, "\(error)") }
}
